// Hides the static twin of a view for as long as the live one is there. In a saved notebook, where no kernel answers,
// nothing is hidden and the twin is what the reader sees.

export default {
  render({ model, el }) {
    const twin = `[data-argus-twin="${model.get("twin")}"]`;
    const style = document.createElement("style");
    style.textContent = `${twin}, .jp-OutputArea-child:has(${twin}) { display: none !important; }`;
    document.head.append(style);
    el.style.display = "none";
    return () => style.remove();
  },
};
