"use strict";
// Draws every element that names the data of a network: <div data-network="ID">, <script type="application/json" id="ID">.
(function (root) {
  const start = () => {
    for (const element of root.document.querySelectorAll("[data-network]")) {
      const data = root.document.getElementById(element.dataset.network);
      root.OblivNetwork.mount(element, JSON.parse(data.textContent));
    }
  };
  if (root.document.readyState === "loading") root.document.addEventListener("DOMContentLoaded", start);
  else start();
})(typeof globalThis === "undefined" ? this : globalThis);
