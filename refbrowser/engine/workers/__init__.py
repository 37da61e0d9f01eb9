"""Those who work beside this process: processes of this machine, and what all of them must have alike."""
