// Dark where the reader's system is, from before anything is drawn.
const dark = matchMedia("(prefers-color-scheme: dark)");
const show = () => document.documentElement.classList.toggle("pf-v6-theme-dark", dark.matches);
dark.addEventListener("change", show);
show();
