"""Names of parameters whose values let whoever has them in: what is told to others goes without these."""

from __future__ import annotations

import re

#: Such names in any text, as a pattern.
IN_TEXTS = (
    r"[\w.-]{0,64}(?:signature|credential|token|secret|passw|api[-_]?key|access[-_]?key|account[-_]?key|"
    r"authorization)[\w.-]{0,64}"
)
#: Those that are such in URLs alone.
IN_URLS = r"sig|key|jwt|auth|policy|code"
_NAME = re.compile(rf"{IN_TEXTS}|{IN_URLS}|pwd|session(?:id)?|hdnea|hdnts", re.IGNORECASE)
#: What stands beside a signature and is of no use without it.
_BESIDE = re.compile(r"x-(?:amz|goog|oss|cos)-.*|googleaccessid|key-pair-id|expires", re.IGNORECASE)
#: The same of shared access signatures of Azure, which are called `sig`.
_OF_AZURE = re.compile(
    "ss|s[vpetir]|srt|spr|ses|scid|sdd|(?:sk|sa|su)oid|sktid|sk[tesv]|rsc[cdelt]", re.IGNORECASE
)


def secret_names(names: list[str]) -> set[str]:
    """Return those of the parameters of one URL that are secret, or belong to what is."""
    found = {name for name in names if _NAME.fullmatch(name) or _BESIDE.fullmatch(name)}
    if any(name.lower() == "sig" for name in names):
        found |= {name for name in names if _OF_AZURE.fullmatch(name)}
    return found
