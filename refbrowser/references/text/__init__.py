"""JSON text: read exactly, with places, changed where a value changed, held in little memory."""
