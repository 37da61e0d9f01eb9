"""Encodings of text by the names that Python knows: a fixed list, since looking one up imports a module."""

from __future__ import annotations

from encodings.aliases import aliases

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

_UNICODE = [
    "utf_8",
    "utf_7",
    "utf_8_sig",
    *(f"utf_{bits}{end}" for bits in (16, 32) for end in ("", "_le", "_be")),
]
_CODE_PAGES = (
    "037 273 424 437 500 720 737 775 850 852 855 856 857 858 860 861 862 863 864 865 866 869 874 875 932 949 "
    "950 1006 1026 1125 1140 1250 1251 1252 1253 1254 1255 1256 1257 1258"
)
_ISO = [f"iso8859_{part}" for part in (*range(2, 12), 13, 14, 15, 16)]
_EAST = (
    "big5 big5hkscs euc_jis_2004 euc_jisx0213 euc_jp euc_kr gb18030 gb2312 gbk hz iso2022_jp iso2022_jp_1 "
    "iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext iso2022_kr johab shift_jis shift_jis_2004 "
    "shift_jisx0213"
)
_OTHERS = (
    "ascii latin_1 hp_roman8 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620 mac_cyrillic mac_greek mac_iceland "
    "mac_latin2 mac_roman mac_turkish"
)
_KNOWN = frozenset(
    [*_UNICODE, *_ISO, *_EAST.split(), *_OTHERS.split(), *(f"cp{page}" for page in _CODE_PAGES.split())]
)


def codec_name(name: str) -> str:
    """Return the name of an encoding: ``utf-8`` for all spellings of it, else that of Python's module.

    Raises
    ------
    RefbrowserError
        E_SCHEMA: it is none that turns bytes into text.
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_") if len(name) <= 64 else ""
    plain = aliases.get(plain, plain)
    if plain not in _KNOWN:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(name)} is not a known text encoding")
    return "utf-8" if plain == "utf_8" else plain
