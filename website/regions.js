/* Blocks of code and wide tables that scroll can be reached and scrolled by keyboard. The theme does that for code only,
   and takes it back where no pointer hovers. */
addEventListener("load", () => {
  const reach = (region) => {
    const scrolls = region.scrollWidth > region.clientWidth;
    if (scrolls && !region.hasAttribute("tabindex")) region.setAttribute("tabindex", "0");
    if (!scrolls) region.removeAttribute("tabindex");
  };
  const changed = (records) => records.forEach((record) => reach(record.target));
  const resized = new ResizeObserver(changed);
  const taken = new MutationObserver(changed);
  document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap").forEach((region) => {
    resized.observe(region);
    taken.observe(region, { attributeFilter: ["tabindex"] });
  });
});
