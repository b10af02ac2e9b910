// Parts of a page are exchanged without loading it anew. Everything here works without it, too: a form is a form, a
// link is a link, and a page that waits loads itself again.
//
//   <form data-part="#id">        its answer takes the place of the element
//   <div data-get="/address" data-every="500">   is asked for again and again, until an answer has no data-every
//   <… data-reload>               an answer that ends the waiting: the page is loaded once more
//   <select data-send>            sends its form when it changes
(function () {
  "use strict";
  const PART = { "X-Part": "1" };

  function say(text) {
    const place = document.getElementById("said");
    if (place && place.textContent !== text) place.textContent = text;
  }

  // Keeps the focus: the new element with the same id gets it, so that who uses the keyboard stays where she was.
  function put(place, html) {
    const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
    const made = document.createElement("template");
    made.innerHTML = html.trim();
    const fresh = made.content.firstElementChild;
    if (!fresh) return;
    if (fresh.hasAttribute("data-reload")) { location.reload(); return; }
    place.replaceWith(fresh);
    if (focused) document.getElementById(focused)?.focus();
    watch(fresh);
  }

  async function ask(address, options) {
    const answer = await fetch(address, { headers: PART, credentials: "same-origin", ...options });
    if (answer.redirected) { location.assign(answer.url); return null; }
    const html = await answer.text();
    if (!answer.ok && !html.trimStart().startsWith("<")) throw new Error(String(answer.status));
    say("");
    return html;
  }

  function isWhole(html) { return /^<!doctype/i.test(html.trimStart()); }

  async function send(form, submitter) {
    const place = document.querySelector(form.dataset.part);
    const data = new URLSearchParams(new FormData(form, submitter));
    form.setAttribute("aria-busy", "true");
    try {
      const html = await ask(form.action, { method: "POST", body: data });
      if (html === null) return;
      if (isWhole(html)) document.documentElement.replaceChildren(...new DOMParser().parseFromString(html, "text/html").documentElement.childNodes);
      else put(place, html);
    } catch (error) {
      say(document.body.dataset.lost);
    } finally {
      form.removeAttribute("aria-busy");
    }
  }

  function watch(root) {
    const waiting = [...root.querySelectorAll("[data-get][data-every]")];
    if (root.matches?.("[data-get][data-every]")) waiting.push(root);
    for (const place of waiting) setTimeout(look, Number(place.dataset.every), place);
  }

  async function look(place) {
    if (!place.isConnected) return;
    try {
      const html = await ask(place.dataset.get);
      if (html === null) return;
      if (isWhole(html)) location.reload(); else put(place, html);
    } catch (error) {
      say(document.body.dataset.lost);
      setTimeout(look, 4 * Number(place.dataset.every), place);
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("aria-busy") === "true") { event.preventDefault(); return; }
    if (form.dataset.part) { event.preventDefault(); send(form, event.submitter); return; }
    if (form.method === "post") form.setAttribute("aria-busy", "true");
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-send]")) event.target.form.requestSubmit();
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  watch(document);
})();
