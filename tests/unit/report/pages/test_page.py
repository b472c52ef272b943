"""A page of any data: hostile text stays text, only the page's own script may run."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

from ptxtool.report.pages.page import embedded, page

HOSTILE = "</script><script>alert(1)</script><!-- & \u202e\u2066 \x1b[31m \u2028 \udc80 <img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """The elements of a page, and the text of each script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data


def parsed(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    return found


def test_embedded_data_has_no_markup_and_no_controls() -> None:
    text = embedded({HOSTILE: [HOSTILE, 1, None, True, 2.5]})
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert not re.search(r"[\x00-\x1f]", text)
    ((key, values),) = json.loads(text).items()
    # what is no printable character is written out, as diagnostics have it
    assert key == values[0]
    assert key == HOSTILE.replace("\u202e", "\\u202e").replace("\u2066", "\\u2066").replace(
        "\x1b", "\\x1b"
    ).replace("\u2028", "\\u2028").replace("\udc80", "\\x80")
    assert values[1:] == [1, None, True, 2.5]


def test_a_hostile_page_has_the_elements_of_a_plain_one() -> None:
    plain, hostile = (parsed(page(text, (), (), {"name": text})) for text in ("plain", HOSTILE))
    assert hostile.tags == plain.tags
    assert json.loads(hostile.scripts[0])["name"].startswith("</script><script>alert(1)")


def test_the_policy_allows_the_script_by_its_digest_and_nothing_else() -> None:
    text = page("t", ("kernel.css",), ("code.js",), {})
    script = parsed(text).scripts[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_the_same_data_give_the_same_bytes() -> None:
    assert page("t", (), (), {"a": 1}) == page("t", (), (), {"a": 1})
