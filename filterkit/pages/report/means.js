// The means of the chains.
"use strict";

function showMeans(report) {
    const { data, state } = report;
    const chain = {
        key: "chain",
        label: "chain",
        width: widthOf(data.chains),
        text: true,
        value: (row) => data.chains[row],
        cell: (row) => nameElement(data.chains[row]),
    };
    const columns = () => {
        const names = data.shown.includes(state.measure) ? data.shown : [...data.shown, state.measure];
        return [chain, ...names.map(measureColumn)];
    };
    const measureColumn = (name) => {
        const { title, loss } = report.measures.get(name);
        const best = report.best(
            data.chains.map((_, row) => report.mean(row, state.share, name)),
            name,
        );
        return {
            key: name,
            label: title,
            width: Math.max(9, title.length * 0.58 + 1.5),
            ascending: loss,
            value: (row) => report.mean(row, state.share, name),
            cell: (row) => {
                const text = meanText(report.mean(row, state.share, name), report.error(row, state.share, name));
                return best.has(row) ? element("strong", { class: "best", title: "best" }, text) : text;
            },
        };
    };
    const caption = element("p", { class: "quiet" });
    const sort = { key: state.measure, descending: !report.measure.loss };
    const table = liveTable(report, { caption: "Means of the chains", rows: data.chains.length, columns, sort });
    const update = () => {
        const trained = data.shares.length > 1 ? `, trained on ${shareText(data.shares[state.share])} of all rows` : "";
        const over =
            data.units > 1 ? `Means over ${data.units} ${data.over} ± standard error` : "Values on the test set";
        const hint = element("span", { class: "screen-only" }, " Click on a head to sort.");
        caption.replaceChildren(`${over}${trained}. The best of each measure is bold.`, hint);
        table.update();
    };
    return { element: section("means", "Means", caption, table.element), update };
}
