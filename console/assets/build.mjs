// Writes ../static/vendor: PatternFly's CSS of the components that pages use, its fonts, and htmx.
//
// Variables that no rule uses and the themes that the console does not offer are left out: nine
// tenths of what a browser would read otherwise.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { transform } from "lightningcss";
import { PurgeCSS } from "purgecss";

const FROM = "node_modules/@patternfly/patternfly/";
const TO = "../static/vendor/";

const COMPONENTS = [
  "Alert/alert", "Badge/badge", "Breadcrumb/breadcrumb", "Button/button", "Card/card",
  "Check/check", "CodeBlock/code-block", "Content/content", "DescriptionList/description-list",
  "Divider/divider", "EmptyState/empty-state", "ExpandableSection/expandable-section",
  "Form/form", "FormControl/form-control", "HelperText/helper-text", "Icon/icon", "Label/label",
  "List/list", "Masthead/masthead", "Nav/nav", "Page/page", "Pagination/pagination",
  "Panel/panel", "Progress/progress", "Radio/radio",
  "SkipToContent/skip-to-content", "Spinner/spinner", "Table/table", "Table/table-grid",
  "Tabs/tabs", "Title/title",
];
const FONTS = ["RedHatText/RedHatTextVF", "RedHatMono/RedHatMonoVF"];
const LEFT_OUT = [/theme-(felt|glass|high-contrast)/, /-m-glass/];

const parts = ["patternfly-base", ...COMPONENTS.map((each) => `components/${each}`)];
const whole = parts.map((each) => readFileSync(`${FROM}${each}.css`, "utf8")).join("\n");
const [purged] = await new PurgeCSS().purge({
  content: [{ raw: "", extension: "html" }],
  css: [{ raw: whole }],
  variables: true,
  safelist: { standard: [/.*/] },
  blocklist: LEFT_OUT,
});
const faces = /@font-face\s*\{[^}]*\}/g;
const fonts = FONTS.map((each) => {
  const [family, file] = each.split("/");
  return `@font-face{font-family:${family};src:url("${file}.woff2") format("woff2");` +
    "font-weight:300 700;font-display:swap}";
});
const css = purged.css.replace(faces, "").replace(/url\([^)]*assets[^)]*\)/g, "none") + fonts.join("");

rmSync(TO, { recursive: true, force: true });
mkdirSync(TO, { recursive: true });
const { code } = transform({ filename: "patternfly.css", code: Buffer.from(css), minify: true });
const licence = "/* PatternFly, MIT licence, Red Hat, Inc.; fonts: SIL Open Font License */\n";
writeFileSync(`${TO}patternfly.css`, licence + code + "\n");
for (const each of FONTS) {
  copyFileSync(`${FROM}assets/fonts/${each}.woff2`, `${TO}${each.split("/")[1]}.woff2`);
}
copyFileSync("node_modules/htmx.org/dist/htmx.min.js", `${TO}htmx.js`);
copyFileSync("node_modules/idiomorph/dist/idiomorph-ext.min.js", `${TO}idiomorph.js`);
console.log(`patternfly.css: ${code.length} bytes, ${gzipSync(code).length} compressed`);
