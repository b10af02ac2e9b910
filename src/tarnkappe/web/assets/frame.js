// Colours and language are kept in cookies of this site, so that the server renders the page right at once.
(function () {
  const root = document.documentElement;
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const wanted = root.dataset.wanted;
    root.dataset.theme = wanted === "auto" ? (night.matches ? "dark" : "light") : wanted;
    window.dispatchEvent(new Event("tarnkappe-theme"));
  };
  const here = document.currentScript.dataset;
  root.lang = here.language;
  root.dataset.wanted = here.theme;
  paint();
  night.addEventListener("change", paint);
  window.tarnkappe = {
    prefer(name, value) {
      document.cookie = `tarnkappe_${name}=${value}; path=/; max-age=31536000; samesite=strict`;
      if (name === "theme") { root.dataset.wanted = value; paint(); } else { location.reload(); }
    },
    leave(address) {
      fetch(address, { method: "POST" }).finally(() => location.assign("/login"));
    },
  };
})();
