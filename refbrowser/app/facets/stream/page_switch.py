"""The pages of the messages of a stream: the list of them, and the picture of what each gave."""

from __future__ import annotations

from refbrowser.app.widgets.page_switch import Page

LIST, PICTURE = range(2)
PAGES = (
    Page("messagesListButton", "List", "List the messages of the stream"),
    Page("messagesPictureButton", "Picture", "Show which message supplied each element of the array"),
)
