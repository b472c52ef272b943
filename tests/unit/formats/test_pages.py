"""The pages of diagnostic codes: there is one for each code, and its first paragraph is what the code means."""

from ptxtool.base.diag import CODES
from ptxtool.formats.pages import (
    Job,
    command_section,
    jobs,
    meaning,
    page,
    page_path,
    pages_of_pass,
    topic_page,
    topics,
)


def test_every_code_has_a_page_with_a_meaning() -> None:
    for code in CODES:
        assert page_path(code).name == f"{code}.md"
        assert page(code).startswith("# "), code
        assert meaning(code).endswith((".", ":")), code
        assert "\n" not in meaning(code)


def test_the_meaning_is_the_first_paragraph() -> None:
    text = page("E104")
    first = text.split("\n\n")[1]
    assert meaning("E104").split() == first.split()
    assert not text.endswith("\n")


def test_topics_are_pages_and_folders() -> None:
    found = topics()
    assert {"passes", "launch-file", "model", "model/memory", "errors"} <= set(found)
    assert not {"README", "E203", "errors/E203", "model/README"} & set(found)
    assert topic_page("passes").startswith("# A pass of your own\n")


def test_jobs_name_pages_that_there_are() -> None:
    found = jobs()
    assert {topic for job in found for topic in job.topics} <= set(topics())
    job = next(job for job in found if "passes" in job.topics)
    assert job == Job(
        "Rewrite a kernel", "write a pass of my own, and see that it changes nothing", ("passes",)
    )


def test_the_pages_of_a_pass() -> None:
    assert pages_of_pass("demote") == pages_of_pass("allocate") == ("allocation",)
    assert pages_of_pass("unroll-decls") == pages_of_pass("no-pass") == ()


def test_the_section_of_a_command() -> None:
    text = command_section("run")
    assert text.startswith("## run\n")
    assert "\n## " not in text
    assert command_section("help").startswith("## help\n")  # the last one
