// Shows either the live view or its static view: the static one is hidden for as long as the live one answers. In a saved
// notebook, where there is no kernel, nothing is hidden and the static view is what the reader sees.

export default {
  render({ model, el }) {
    const selector = `[data-argus-twin="${model.get("static_view")}"]`;
    const style = document.createElement("style");
    style.textContent = `${selector}, .jp-OutputArea-child:has(${selector}) { display: none !important; }`;
    document.head.append(style);
    el.style.display = "none";
    let live = true;
    const change = () => { // the kernel went, or came back
      live = !live;
      style.disabled = !live;
      const place = el.closest(".jp-OutputArea-child");
      if (place) place.style.display = live ? "" : "none";
    };
    model.on("comm_live_update", change);
    return () => {
      model.off("comm_live_update", change);
      style.remove();
    };
  },
};
