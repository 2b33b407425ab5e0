"use strict";
/* The charts: Vega-Lite specifications, evaluated by its interpreter, so that no text becomes code. */
const OblivCharts = (() => {
  const PAPER = 660; // pixels, of the 700 across a page

  function tooltip(element) {
    const box = element("div", { class: "tooltip", role: "status" });
    box.hidden = true;
    document.body.append(box);
    return (view, event, item, value) => {
      if (value === null || value === undefined || value === "") { box.hidden = true; return; }
      const lines = Object.entries(value).filter(([, text]) => text !== "" && text !== "null");
      const list = element("dl");
      lines.forEach(([name, text]) => list.append(element("dt", {}, name), element("dd", {}, String(text))));
      box.replaceChildren(list);
      box.hidden = false;
      const wide = box.offsetWidth, tall = box.offsetHeight;
      box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - wide - 8))}px`;
      box.style.top = `${event.clientY + 16 + tall > innerHeight ? event.clientY - tall - 10 : event.clientY + 16}px`;
    };
  }

  /* Give the bars more of a narrow page than their names and numbers. */
  function narrow(spec) {
    spec.layer.forEach(layer => {
      if (layer.encoding.y.axis) layer.encoding.y.axis.labelLimit = 88;
      if (layer.mark.type === "text") Object.assign(layer.mark, { dx: Math.round(0.88 * layer.mark.dx), fontSize: 10 });
    });
  }

  async function mount(specs, element) {
    const handler = tooltip(element), views = {};
    for (const [name, spec] of Object.entries(specs)) {
      const place = document.getElementById(name);
      if (name === "bars" && place.clientWidth < 460) narrow(spec);
      const made = await vegaEmbed(place, spec,
        { actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: handler, logLevel: 1 });
      views[name] = made.view;
    }
    const choice = document.getElementById("topology");
    if (choice) {
      choice.addEventListener("change", () => Object.entries(views).forEach(([name, view]) => {
        const place = document.getElementById(name), height = specs[name].usermeta.heights[choice.value];
        place.closest("figure").hidden = !height; // nothing to draw there
        if (height) view.height(height).width(place.clientWidth).signal("topology", choice.value).runAsync();
      }));
    }
    /* On paper the charts are drawn for its width, so that their texts keep their size. */
    addEventListener("beforeprint", () => Object.values(views).forEach(view => view.width(PAPER).run()));
    addEventListener("afterprint", () => Object.entries(views).forEach(([name, view]) =>
      view.width(document.getElementById(name).clientWidth).run()));
    return views;
  }

  return { mount };
})();
