/**
 * Draws lines with logarithmic axes as an SVG image that is readable on light and
 * dark pages. The image adapts to the page's color scheme.
 *
 * @module
 */

/** One coordinate system. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

/** A named series of points, which may be empty. */
interface Line {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const WIDTH = 420;
const HEIGHT = 250;
const MARGIN = { left: 56, right: 16, top: 36, bottom: 34 };

/** Colors that are distinct for color-blind readers and on both backgrounds. */
const COLORS = [
  "#d1495b",
  "#edae49",
  "#7a7f87",
  "#2e86ab",
  "#3a9d6e",
  "#8d5fd3",
];

/** Draws the panels in two columns above a legend, which names the lines of the first panel. */
export function createPlot(panels: readonly Panel[]): string {
  const rows = Math.ceil(panels.length / 2);
  const names = panels[0]?.lines.map(({ name }) => name) ?? [];
  const height = rows * HEIGHT + 30 * Math.ceil(names.length / 3) + 10;
  const drawn = panels.map((panel, index) => {
    const x = (index % 2) * WIDTH;
    const y = Math.floor(index / 2) * HEIGHT;
    return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${
    WIDTH * 2 + MARGIN.right
  } ${height}" font-family="system-ui, sans-serif" font-size="12">
<style>text { fill: #24292f } .grid { stroke: #d0d7de } .line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #3d444d } }</style>
${drawn.join("\n")}
${drawLegend(names, rows * HEIGHT + 20)}
</svg>
`;
}

function drawPanel({ title, lines }: Panel): string {
  const points = lines.flatMap(({ points }) => points);
  const toX = createScale(points.map(({ x }) => x), {
    from: MARGIN.left,
    to: WIDTH - MARGIN.right,
  });
  const toY = createScale(points.map(({ y }) => y), {
    from: HEIGHT - MARGIN.bottom,
    to: MARGIN.top,
  });
  const vertical = toX.ticks.map((value) =>
    `<text x="${toX(value)}" y="${HEIGHT - 14}" text-anchor="middle">${
      value.toLocaleString("en")
    }</text>`
  );
  const horizontal = toY.ticks.map((value) =>
    `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${
      toY(value)
    }" y2="${toY(value)}"/><text x="${MARGIN.left - 6}" y="${
      toY(value) + 4
    }" text-anchor="end">${value.toLocaleString("en")}</text>`
  );
  const drawn = lines.map(({ points }, index) => {
    const color = COLORS[index % COLORS.length];
    const path = points.map(({ x, y }) => `${toX(x)},${toY(y)}`);
    const dots = points.map(({ x, y }) =>
      `<circle cx="${toX(x)}" cy="${toY(y)}" r="3" fill="${color}"/>`
    );
    return `<polyline class="line" stroke="${color}" points="${
      path.join(" ")
    }"/>${dots.join("")}`;
  });
  const heading = `<text x="${MARGIN.left}" y="20" font-weight="600">${
    escapeXml(title)
  }</text>`;
  return [heading, ...vertical, ...horizontal, ...drawn].join("");
}

/** A function from values to positions, and the values to mark. */
type Scale = ((value: number) => number) & { readonly ticks: number[] };

/** Creates a logarithmic scale over whole powers of ten. */
function createScale(
  values: readonly number[],
  { from, to }: { from: number; to: number },
): Scale {
  const known = values.length > 0 ? values : [1];
  const low = Math.floor(Math.log10(Math.min(...known)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...known))), low + 1);
  const scale = (value: number) => {
    const share = (Math.log10(value) - low) / (high - low);
    return Math.round((from + share * (to - from)) * 10) / 10;
  };
  const exponents = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  return Object.assign(scale, { ticks: exponents.map((e) => 10 ** e) });
}

function drawLegend(names: readonly string[], top: number): string {
  return names.map((name, index) => {
    const x = MARGIN.left + (index % 3) * 260;
    const y = top + Math.floor(index / 3) * 24;
    const color = COLORS[index % COLORS.length];
    return `<circle cx="${x}" cy="${y}" r="5" fill="${color}"/><text x="${
      x + 12
    }" y="${y + 4}">${escapeXml(name)}</text>`;
  }).join("");
}

/** Escapes text for an SVG image. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
}
