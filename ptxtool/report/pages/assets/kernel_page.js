render(html`<${KernelView} kernel=${DATA.kernel} />`, document.getElementById("app"));
