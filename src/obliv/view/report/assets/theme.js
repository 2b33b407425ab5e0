"use strict";
/* The choice of colors: light, dark, or as the reader's system. */
(() => {
  const choices = [...document.querySelectorAll("[data-theme-choice]")];
  choices.forEach(choice => choice.addEventListener("click", () => {
    const theme = choice.dataset.themeChoice;
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    choices.forEach(other => other.setAttribute("aria-pressed", other === choice));
  }));
})();
