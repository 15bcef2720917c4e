// The table of all features, and what a reader takes along: the names of the best N, and the command that selects them.
"use strict";

const FIRST_METRICS = 4; // shown at first, besides the chosen one

function tableView(model, state, change) {
    const status = element("p", { class: "quiet", role: "status" });
    const search = element("input", {
        type: "search",
        placeholder: "part of a name",
        oninput: () => change({ query: search.value }),
    });
    const clear = element(
        "button",
        { type: "button", hidden: true, onclick: () => change({ box: null, query: "" }) },
        "Show all",
    );
    const metricChoice = model.metrics.length > 1 ? metricBoxes(model, state, change) : null;
    const take = model.metrics.length ? takeAlong(model, state) : null;
    const table = sortableTable({
        caption: "All features",
        rows: model.size,
        columns: columnsOf(model, state),
        sort: { key: model.metrics.length ? rankKey(state.metric) : "name", descending: false },
        lines: 16,
        onChoose: (feature) => change({ chosen: feature, jump: true }),
    });
    const found = section(
        "features",
        "Features",
        element("div", { class: "controls screen-only" }, element("label", {}, "Search ", search), clear, metricChoice),
        status,
        table.element,
        take?.element ?? null,
    );

    function update(changed) {
        if (changed.has("metric") && state.metric !== null) rankAnew();
        else {
            if (changed.has("columns")) table.setColumns(columnsOf(model, state));
            if (["query", "box", "task"].some((key) => changed.has(key))) narrow();
        }
        if (changed.has("chosen")) table.choose(state.chosen);
        take?.update(changed);
        metricChoice?.dispatchEvent(new Event("update"));
    }

    // The plane, which is in view, shows another metric first.
    const rankAnew = afterNextFrame(() => {
        table.setColumns(columnsOf(model, state), { key: rankKey(state.metric), descending: false });
        narrow();
    });

    function narrow() {
        const keep = filterOf(model, state);
        table.filter(keep);
        if (search.value !== state.query) search.value = state.query;
        clear.hidden = keep === null;
        status.textContent = statusText(model, state, table.rows().length);
    }

    status.textContent = statusText(model, state, model.size);
    return { element: found, update };
}

/** Which rows the search and the rectangle leave, as a function of the row, or null for all. */
function filterOf(model, { query, box, metric, task }) {
    const part = query.toLowerCase();
    if (!part && !box) return null;
    const inBox = (feature) => {
        if (!inTask(model, { metric, task }, feature)) return false;
        const { fpr, tpr } = model.test(model.point(metric, feature));
        return fpr >= box.fpr[0] && fpr <= box.fpr[1] && tpr >= box.tpr[0] && tpr <= box.tpr[1];
    };
    return (feature) => model.searched[feature].includes(part) && (!box || inBox(feature));
}

function statusText(model, { query, box }, shown) {
    const { total } = model.data.features;
    const left = total > model.size ? `; the data has ${count(total)}` : "";
    const why = [query && `whose name contains “${visible(query)}”`, box && "inside the rectangle of the ROC plane"]
        .filter(Boolean)
        .join(" and ");
    const which = why ? `${count(shown)} of ${counted(model.size, "feature")} ${why}` : counted(shown, "feature");
    const help = "The search takes the text as it stands; capital and small letters are equal.";
    return `${which}${left}. ${help} A click on a row chooses the feature.`;
}

/** Boxes that say which metrics have a column. */
function metricBoxes(model, state, change) {
    const boxes = model.metrics.map((name) => {
        const box = element("input", { type: "checkbox", value: name, onchange: () => toggle(name, box.checked) });
        return box;
    });
    function toggle(name, on) {
        change({ columns: model.metrics.filter((each) => (each === name ? on : state.columns.includes(each))) });
    }
    const update = () =>
        boxes.forEach((box) => (box.checked = state.columns.includes(box.value) || box.value === state.metric));
    update();
    const labels = boxes.map((box) => element("label", {}, box, ` ${box.value}`));
    return element(
        "details",
        { class: "boxes", onupdate: update },
        element("summary", {}, "Columns of scores"),
        element("div", {}, ...labels),
    );
}

// ---- Columns

function columnsOf(model, state) {
    const { kind, nonzero, missing } = model.data.features;
    const scored = model.metrics.length > 0;
    return [
        ...(scored ? [rankColumn(model, state.metric)] : []),
        {
            key: "name",
            label: "Name",
            width: 11,
            text: true,
            value: (row) => model.names[row],
            cell: (row) => nameElement(model.names[row]),
        },
        {
            key: "strip",
            label: "Distribution",
            title: stripTitle(model),
            width: 7,
            text: true,
            cell: (row) => stripDrawing(...model.strip(row)),
        },
        ...(scored && model.tasks.length ? testColumns(model, state.metric) : []),
        ...model.metrics
            .filter((metric) => metric === state.metric || state.columns.includes(metric))
            .map((metric) => scoreColumn(model, metric)),
        {
            key: "nonzero",
            label: "Non-zero",
            title: "Rows with a value other than zero",
            width: 5.25,
            value: (row) => nonzero[row],
            cell: (row) => count(nonzero[row]),
        },
        {
            key: "missing",
            label: "Missing",
            title: "Rows without a value",
            width: 5,
            value: (row) => missing[row],
            cell: (row) => count(missing[row]),
        },
        ...(new Set(kind).size > 1
            ? [
                  {
                      key: "kind",
                      label: "Kind",
                      width: 5,
                      text: true,
                      value: (row) => kind[row],
                      cell: (row) => kind[row],
                  },
              ]
            : []),
    ];
}

function stripTitle({ tasks }) {
    return tasks.length
        ? "Shares of the rows of the class (up) and of the rest (down), from the least to the largest value"
        : "Shares of the rows, from the least to the largest value";
}

function rankKey(metric) {
    return `rank ${metric}`;
}

function rankColumn(model, metric) {
    const { place } = model.ranking(metric);
    const value = (row) => (place[row] < 0 ? null : place[row] + 1);
    return {
        key: rankKey(metric),
        label: "Rank",
        title: `Rank by ${metric}`,
        width: 4.75,
        ascending: true,
        value,
        cell: (row) => count(value(row)),
    };
}

function scoreColumn(model, metric) {
    const { summary } = model.data.metrics.find(({ name }) => name === metric);
    return {
        key: `score ${metric}`,
        label: metric,
        title: `${metric}: ${summary}`,
        width: 4.75,
        value: (row) => model.score(metric, row),
        cell: (row) => decimal(model.score(metric, row)),
    };
}

/** The columns that show the best test by the metric. */
function testColumns(model, metric) {
    const { points } = model.data.features;
    const of = (key, row) => model.test(model.point(metric, row))?.[key] ?? null;
    const threshold = (row) => {
        const point = model.point(metric, row);
        return point < 0 ? null : points.threshold[point];
    };
    const number = (key, title, format) => ({
        key: `${key} ${metric}`,
        label: key,
        title,
        width: 4.25,
        value: (row) => of(key, row),
        cell: (row) => format(of(key, row)),
    });
    const label = (row) => model.tasks[of("task", row)]?.label ?? null;
    return [
        {
            key: `threshold ${metric}`,
            label: "Test",
            title: `Best test of the value by ${metric}`,
            width: 6,
            text: true,
            value: threshold,
            cell: (row) => (model.point(metric, row) < 0 ? NONE : model.testText(model.point(metric, row))),
        },
        ...(model.tasks.length > 1
            ? [
                  {
                      key: `class ${metric}`,
                      label: "Class",
                      title: "The class that the test is for",
                      width: 7,
                      text: true,
                      value: label,
                      cell: (row) => (label(row) === null ? NONE : nameElement(label(row))),
                  },
              ]
            : []),
        number("tp", "Rows of the class that pass the test", count),
        number("fp", "Other rows that pass the test", count),
        number("tpr", "Share of the class's rows that pass", percent),
        number("fpr", "Share of the other rows that pass", percent),
    ];
}

/** Two small histograms on one line: the class upwards, the rest downwards. */
function stripDrawing(inside, outside) {
    const [width, height] = [96, 26];
    const most = Math.max(d3.max(inside), d3.max(outside), 1);
    const step = width / inside.length;
    const single = d3.max(outside) === 0;
    const middle = single ? height - 1 : height / 2;
    const bars = (shares, sign) =>
        Array.from(shares, (share, bin) => {
            const size = share && Math.max(1, (share / most) * (single ? height - 2 : middle - 1));
            const [left, up, across] = [bin * step + 0.5, sign * size, step - 1].map((length) => length.toFixed(1));
            return size ? `M${left},${middle}v${up}h${across}V${middle}Z` : "";
        }).join("");
    const svg = d3
        .create("svg")
        .attr("class", "strip")
        .attr("width", width)
        .attr("height", height)
        .attr("aria-hidden", "true");
    svg.append("path")
        .attr("d", bars(inside, -1))
        .style("fill", single ? "var(--colour-0)" : "var(--positive)");
    svg.append("path").attr("d", bars(outside, 1)).style("fill", "var(--rest)");
    svg.append("line").attr("x2", width).attr("y1", middle).attr("y2", middle);
    return svg.node();
}

// ---- What a reader takes along

function takeAlong(model, state) {
    const button = element("button", { type: "button", class: "main", onclick: save });
    const command = element("code", {
        class: "command",
        tabindex: 0,
        "aria-label": "Command that selects these features",
    });
    function save() {
        const { order } = model.ranking(state.metric);
        const names = order.slice(0, state.cut).map((feature) => model.names[feature]);
        saveText(
            `best-${names.length}-by-${state.metric}.txt`,
            names.map((name) => `${name.replace(/[\r\n]+/g, " ")}\n`).join(""),
        );
    }
    function update() {
        const size = Math.min(state.cut, model.ranking(state.metric).order.length);
        button.textContent = `Save the ${size === 1 ? "name" : `${count(size)} names`} of the best by ${state.metric}`;
        command.textContent = selectCommand(model.data.made, model.data.file, state);
    }
    update();
    const found = element(
        "div",
        { class: "take" },
        element("div", { class: "screen-only" }, button),
        element("div", {}, element("div", { class: "quiet" }, "The command that keeps them:"), command),
    );
    return { element: found, update };
}

/** The command line that selects the best features. */
function selectCommand({ input }, file, { metric, cut }) {
    const words = visible(input ?? shellWord(file));
    return `filterkit ${words} select --by ${shellWord(metric)} --top ${cut} > selected.arff`;
}
