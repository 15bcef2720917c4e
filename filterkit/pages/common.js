// What the scripts of all pages share: data, elements, texts, numbers, colours, tooltip, legend, tables, heat maps.
//
// Texts of the data become text nodes and attributes, never HTML.
"use strict";

// ---- Data and start

/** The data of the page: a promise of the object that was given to make_page of filterkit.pages.page. */
async function readData() {
    const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
}

/**
 * Replaces the plain page by what `show` makes of the data. If that fails, the plain page stays, below a message.
 * @param {(data: object, page: HTMLElement) => void} show puts the sections of the page into the element `page`, which
 *   is in the document but empty.
 */
async function startPage(show) {
    const main = document.getElementById("page");
    const plain = [...main.childNodes];
    try {
        const data = await readData();
        main.replaceChildren();
        document.body.classList.add("live");
        show(data, main);
    } catch (error) {
        document.body.classList.remove("live");
        const text = `This browser cannot draw the interactive page (${error.message}). What follows needs no scripts.`;
        main.replaceChildren(element("p", { class: "warning", role: "alert" }, text), ...plain);
        console.error(error);
    }
}

// ---- Elements

/**
 * An HTML element.
 * @param {string} tag
 * @param {object} attributes `onclick` and the like are listeners; null and false leave an attribute out.
 * @param {...(Node | string | number | null)} children texts become text nodes; null is left out.
 */
function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") made.addEventListener(name.slice(2), value);
        else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(
        ...children.filter((child) => child !== null).map((child) => (child instanceof Node ? child : `${child}`)),
    );
    return made;
}

/** A section with a heading, which a reader can be sent to by `id`. */
function section(id, heading, ...children) {
    const title = element("h2", { id: `${id}-heading` }, heading);
    return element("section", { id, "aria-labelledby": title.id }, title, ...children);
}

/** A figure: what is drawn, and below it what it shows. */
function figure(drawn, caption, attributes = {}) {
    return element("figure", attributes, drawn, element("figcaption", {}, caption));
}

// ---- Texts and numbers

const HIDDEN =
    /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|^ +| +$/gu;

/** A text as it can be seen: control, bidi and zero-width characters and blanks at the ends become visible signs. */
function visible(text) {
    return text === "" ? "(empty)" : text.replace(HIDDEN, visibleSign);
}

function visibleSign(found) {
    const code = found.codePointAt(0);
    if (code === 0x20) return "␣".repeat(found.length);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "␡";
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** A name of the data: cut by the style if it is long, whole in its title, kept apart from the text around it. */
function nameElement(text, tag = "bdi") {
    return element(tag, { class: "name", title: visible(text) }, visible(text));
}

/** A name for SVG and lists, cut to `length` characters. */
function cut(text, length = 24) {
    const characters = [...visible(text).slice(0, 4 * length)];
    return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : characters.join("");
}

const NONE = "–";
const COUNTS = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const DECIMALS = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const EXPONENTS = new Intl.NumberFormat("en", { notation: "scientific", maximumFractionDigits: 2 });

/** A number of rows or cells, or a sum of weights: 1,234 or 0.5. */
function count(number) {
    return number === null ? NONE : COUNTS.format(number);
}

/** A score or a value with four significant digits. */
function decimal(number) {
    if (number === null || Number.isNaN(number)) return NONE;
    const size = Math.abs(number);
    return (size !== 0 && size < 1e-4) || size >= 1e7 ? EXPONENTS.format(number) : DECIMALS.format(number);
}

/** A share between 0 and 1 in per cent; what is little but not nothing says so. */
function percent(share) {
    if (share === null || Number.isNaN(share)) return NONE;
    if (share > 0 && share < 0.0005) return "<0.1 %";
    if (share < 1 && share > 0.9995) return ">99.9 %";
    return `${(share * 100).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
}

/** "1 row", "2 rows". */
function counted(number, noun, plural = `${noun}s`) {
    return `${count(number)} ${number === 1 ? noun : plural}`;
}

/** A word as a POSIX shell takes it. */
function shellWord(text) {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// ---- Colours

const COLOURS = 8; // --colour-0 to --colour-7 in common.css
const DASHES = ["none", "6 3", "2 3"];

/** The colour of the line, the class or the method with this number; after eight they start anew. */
function colourOf(number) {
    return `var(--colour-${number % COLOURS})`;
}

/** The dash pattern that tells lines of the same colour apart. */
function dashOf(number) {
    return DASHES[Math.floor(number / COLOURS) % DASHES.length];
}

/** The value of a colour of the style, for a canvas. */
function paint(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

let onPaper = matchMedia("print").matches; // whether the page is being printed

/** Calls `redraw` when the page turns dark or light, and before and after it is printed. */
function onThemeChange(redraw) {
    const paper = matchMedia("print");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    const turn = (now) => ((onPaper = now), redraw());
    // Pages are counted after the first event; the colours of paper hold from the second on.
    addEventListener("beforeprint", () => turn(true));
    paper.addEventListener("change", () => turn(paper.matches));
    addEventListener("afterprint", () => turn(false));
}

/** What the colours stand for: [{label, colour, dash: of the line, dot: whether it is a dot instead}]. */
function legend(items) {
    const entries = items.map(({ label, colour, dash, dot }) =>
        element("li", {}, dot ? dotSwatch(colour) : swatch(colour, dash), element("bdi", {}, cut(label, 60))),
    );
    return element("ul", { class: "legend" }, ...entries);
}

/** A short line in a colour. */
function swatch(colour, dash = "none") {
    const svg = d3.create("svg").attr("class", "swatch").attr("viewBox", "0 0 18 10").attr("aria-hidden", "true");
    svg.append("line")
        .attr("x2", 18)
        .attr("y1", 5)
        .attr("y2", 5)
        .style("stroke", colour)
        .attr("stroke-dasharray", dash);
    return svg.node();
}

function dotSwatch(colour) {
    const svg = d3.create("svg").attr("class", "swatch dot").attr("viewBox", "0 0 10 10").attr("aria-hidden", "true");
    svg.append("circle").attr("cx", 5).attr("cy", 5).attr("r", 4.5).style("fill", colour);
    return svg.node();
}

// ---- Tooltip and announcements

const tooltip = {
    box: null,

    /** Shows nodes or texts beside a point of the window, in pixels. */
    show(x, y, ...content) {
        this.box ??= document.body.appendChild(element("div", { class: "tooltip", role: "tooltip", id: "tooltip" }));
        this.box.replaceChildren(...content);
        this.box.hidden = false;
        const { width, height } = this.box.getBoundingClientRect();
        const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
        const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
        this.box.style.left = `${Math.max(4, left)}px`;
        this.box.style.top = `${Math.max(4, top)}px`;
    },

    /** Shows them beside an element. */
    showAt(target, ...content) {
        const { right, bottom } = target.getBoundingClientRect();
        this.show(right - 10, bottom - 10, ...content);
    },

    hide() {
        if (this.box) this.box.hidden = true;
    },
};

addEventListener("keydown", (event) => event.key === "Escape" && tooltip.hide());
addEventListener("scroll", () => tooltip.hide(), { passive: true, capture: true });

/** Says a text to who listens to the page, as screen readers do. */
function announce(text) {
    let voice = document.getElementById("voice");
    voice ??= document.body.appendChild(element("div", { id: "voice", class: "unseen", role: "status" }));
    voice.textContent = text;
}

// ---- Controls

/** A choice among options [{value, label}] with a label. */
function choice(label, options, value, onChange) {
    const select = element("select", { onchange: () => onChange(select.value) });
    select.append(...options.map((option) => element("option", { value: option.value }, cut(option.label, 40))));
    select.value = value;
    return element("label", {}, `${label} `, select);
}

/** Calls `action` once for the last of several calls before the next frame. */
function onNextFrame(action) {
    let waiting = null;
    return (...values) => {
        if (waiting === null) requestAnimationFrame(() => (action(...waiting), (waiting = null)));
        waiting = values;
    };
}

/** Lets calls of `action` wait until the page has been drawn once; of several calls meanwhile one is made. */
function afterNextFrame(action) {
    const onSecond = onNextFrame(action);
    return onNextFrame(() => onSecond());
}

/** Lets the browser save a text as a file. */
function saveText(name, text) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// ---- Heat maps

let heatMaps = 0; // how many there are

/**
 * A table whose cells are coloured by values between −1 and 1. Arrow keys walk through the cells.
 * @param {object} options
 *   caption: text; rows, columns: [text];
 *   value: (i, j) → number between −1 and 1, or null; text: number → what stands in the cell;
 *   share: (i, j) → number that the colour shows, by default the value;
 *   small: cells are mere colours, and their texts are shown beside the pointer and the focus.
 * @returns {{element: HTMLElement, update: (caption: string) => void}} update takes the values anew.
 */
function heatMap({ caption, rows, columns, value, text = decimal, share = value, small = false }) {
    const cells = rows.map(() => columns.map(() => element("td", { tabindex: -1 })));
    const heads = columns.map((name) =>
        element("th", { scope: "col" }, element("div", { title: visible(name) }, cut(name))),
    );
    const body = rows.map((name, i) =>
        element("tr", {}, element("th", { scope: "row", title: visible(name) }, cut(name)), ...cells[i]),
    );
    const title = element("p", { class: "quiet", id: `heat-${(heatMaps += 1)}` }, caption);
    const table = element(
        "table",
        { class: small ? "heat small" : "heat", "aria-labelledby": title.id },
        element("thead", {}, element("tr", {}, element("td"), ...heads)),
        element("tbody", {}, ...body),
    );
    const place = new Map(cells.flatMap((line, i) => line.map((cell, j) => [cell, [i, j]])));
    const show = ({ target }) => {
        const [i, j] = place.get(target) ?? [];
        if (i === undefined) return tooltip.hide();
        return tooltip.showAt(target, `${cut(rows[i], 40)} · ${cut(columns[j], 40)}: ${text(value(i, j))}`);
    };
    table.addEventListener("pointerover", show);
    table.addEventListener("focusin", show);
    table.addEventListener("pointerleave", () => tooltip.hide());
    table.addEventListener("focusout", () => tooltip.hide());
    table.addEventListener("keydown", (event) => walkCells(event, cells, place.get(event.target)));
    function update(nextCaption) {
        title.textContent = nextCaption;
        cells.forEach((line, i) => line.forEach((cell, j) => fillCell(cell, text(value(i, j)), share(i, j))));
    }
    if (cells[0]?.[0]) cells[0][0].tabIndex = 0;
    update(caption);
    return { element: element("div", {}, title, element("div", { class: "scroller" }, table)), update };
}

function fillCell(cell, text, share) {
    if (cell.textContent !== text) cell.textContent = text;
    cell.className = share === null ? "none" : share < 0 ? "negative" : "";
    cell.style.setProperty("--share", `${Math.round(100 * Math.min(1, Math.abs(share ?? 0)))}%`);
}

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

function walkCells(event, cells, place) {
    const step = STEPS[event.key];
    if (!step || !place) return;
    event.preventDefault();
    const next = cells[place[0] + step[0]]?.[place[1] + step[1]];
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
}

// ---- Tables

const PRINTED_ROWS = 50;

/**
 * A table that is sorted by a click on the head of a column. Of a long table only the rows in view are in the document.
 * @param {object} options
 *   caption: text; rows: how many the data has; they are numbers from 0;
 *   columns: [{key: always of the same values, label, title, width in rem, text: whether it is one,
 *              value: row → what it is sorted by (number, text or null), cell: row → node or text,
 *              ascending: whether the first click sorts so; by default texts do}];
 *   sort: {key, descending}; lines: how many are in view at once, or null for all;
 *   onChoose: row → called for a click and Enter on a row, or null; onSort: sort → called after a click.
 * @returns {{element, rows: () => number[], setColumns, setSort, filter, choose, update}}
 *   setColumns(columns) shows other columns; setSort({key, descending});
 *   filter(keep) shows the rows for which keep(row) is true, or all for null; choose(row, scroll) marks a row;
 *   rows() are the rows in their present order.
 */
function sortableTable({ caption, rows, columns, sort, lines = null, onChoose = null, onSort = null }) {
    const LINE = 32; // pixels; as in common.css
    const orders = new Map();
    let keep = null;
    let shown = [];
    let active = 0; // the place of the row that the keyboard is on
    let chosen = null;

    const head = element("thead");
    const body = element("tbody");
    const sizes = element("colgroup");
    const table = element(
        "table",
        { class: "sortable" },
        element("caption", { class: "unseen" }, caption),
        sizes,
        head,
        body,
    );
    const scroller = element("div", { class: "scroller" }, table);
    if (lines !== null) scroller.style.maxHeight = `${(lines + 1) * LINE + 24}px`;

    /** The rows sorted as `sort` says, those without a value last; ties stay in the order of the data. */
    function order() {
        const { key, descending } = sort;
        const name = `${key} ${descending}`;
        if (!orders.has(name))
            orders.set(name, sortedRows(rows, columns.find((column) => column.key === key).value, descending));
        return orders.get(name);
    }

    function update() {
        const all = order();
        shown = keep ? all.filter(keep) : all;
        active = Math.max(0, Math.min(active, shown.length - 1));
        table.setAttribute("aria-rowcount", shown.length + 1);
        draw();
    }

    function drawHead() {
        sizes.replaceChildren(...columns.map(({ width }) => element("col", { style: `width: ${width}rem` })));
        table.style.minWidth = `${d3.sum(columns, (column) => column.width)}rem`;
        head.replaceChildren(element("tr", { "aria-rowindex": 1 }, ...columns.map(headCell)));
    }

    function headCell({ key, label, title = label, text = false, ascending = text, value }) {
        const kind = text ? "text" : "number";
        if (!value) return element("th", { scope: "col", class: kind, title }, label);
        const direction = sort.key !== key ? null : sort.descending ? "descending" : "ascending";
        const onclick = () => {
            setSort({ key, descending: sort.key === key ? !sort.descending : !ascending });
            head.querySelector(`[data-key="${CSS.escape(key)}"]`).focus();
            onSort?.(sort);
        };
        const button = element("button", { type: "button", "data-key": key, title, onclick }, label);
        return element("th", { scope: "col", class: kind, "aria-sort": direction }, button);
    }

    /** The places [first, last) of the rows to draw. */
    function range() {
        if (onPaper) return [0, Math.min(shown.length, PRINTED_ROWS)];
        if (lines === null) return [0, shown.length];
        const first = Math.max(0, Math.floor(scroller.scrollTop / LINE) - 5);
        return [first, Math.min(shown.length, first + lines + 12)];
    }

    function draw() {
        const [first, last] = range();
        const focused = body.contains(document.activeElement);
        const reachable = active >= first && active < last ? active : first;
        const drawn = d3.range(first, last).map((place) => line(place, place === reachable));
        const rest = shown.length - last;
        body.replaceChildren(...spacer(first), ...drawn, ...(onPaper ? unprinted(rest) : spacer(rest)));
        if (focused) drawn[reachable - first]?.focus({ preventScroll: true });
    }

    function spacer(count) {
        return count
            ? [
                  element(
                      "tr",
                      { class: "spacer", "aria-hidden": "true" },
                      element("td", { style: `height: ${count * LINE}px` }),
                  ),
              ]
            : [];
    }

    function unprinted(count) {
        return count
            ? [element("tr", {}, element("td", { colspan: columns.length }, `and ${counted(count, "more row")}`))]
            : [];
    }

    function line(place, reachable) {
        const row = shown[place];
        const cells = columns.map((column) =>
            element("td", { class: column.text ? "text" : "number" }, column.cell(row)),
        );
        const attributes = {
            "aria-rowindex": place + 2,
            "aria-current": row === chosen ? "true" : null,
            "data-row": row,
            tabindex: onChoose ? (reachable ? 0 : -1) : null,
        };
        return element("tr", attributes, ...cells);
    }

    function scrollTo(place) {
        const top = place * LINE;
        const height = scroller.clientHeight - head.offsetHeight;
        if (top < scroller.scrollTop) scroller.scrollTop = top;
        else if (top + LINE > scroller.scrollTop + height) scroller.scrollTop = top + LINE - height;
    }

    function walk(event) {
        const page = lines ?? 10;
        const steps = {
            ArrowDown: 1,
            ArrowUp: -1,
            PageDown: page,
            PageUp: -page,
            Home: -shown.length,
            End: shown.length,
        };
        if (event.key === "Enter" || event.key === " ") onChoose(Number(event.target.closest("tr").dataset.row));
        else if (event.key in steps) {
            active = Math.max(0, Math.min(shown.length - 1, active + steps[event.key]));
            if (lines !== null) scrollTo(active);
            draw();
            body.querySelector('[tabindex="0"]')?.focus({ preventScroll: lines !== null });
        } else return;
        event.preventDefault();
    }

    function setSort(next) {
        sort = next;
        active = 0;
        scroller.scrollTop = 0;
        drawHead();
        update();
    }

    function setColumns(next, nextSort = sort) {
        columns = next;
        sort = columns.some((column) => column.key === nextSort.key)
            ? nextSort
            : { key: columns[0].key, descending: false };
        drawHead();
        update();
    }

    function filter(next) {
        if (keep === null && next === null) return;
        keep = next;
        active = 0;
        scroller.scrollTop = 0;
        update();
    }

    function choose(row, scroll = true) {
        chosen = row;
        const place = shown.indexOf(row);
        if (place >= 0) active = place;
        if (place >= 0 && scroll && lines !== null) scrollTo(place);
        draw();
    }

    if (onChoose) {
        table.classList.add("choosable");
        body.addEventListener("keydown", walk);
        body.addEventListener("click", ({ target }) => {
            const row = target.closest("tr[data-row]");
            if (row && !getSelection().toString()) onChoose(Number(row.dataset.row));
        });
    }
    if (lines !== null) {
        scroller.addEventListener("scroll", onNextFrame(draw));
        onThemeChange(draw);
    }
    drawHead();
    update();
    return { element: scroller, rows: () => shown, setColumns, setSort, filter, choose, update };
}

/** The numbers 0 to rows − 1, sorted by their values, stable, those without a value last. */
function sortedRows(rows, value, descending) {
    const all = d3.range(rows);
    const values = all.map(value);
    const unknown = all.filter((row) => values[row] === null);
    const known = Uint32Array.from(unknown.length ? all.filter((row) => values[row] !== null) : all);
    const numbers = values.every((each) => each === null || typeof each === "number");
    const sign = descending ? -1 : 1;
    if (numbers) {
        const keys = Float64Array.from(values, (each) => each ?? 0);
        known.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
    } else {
        known.sort((a, b) => (values[a] < values[b] ? -sign : values[a] > values[b] ? sign : a - b));
    }
    return [...known, ...unknown];
}
