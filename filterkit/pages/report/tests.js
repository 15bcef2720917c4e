// Tests of the differences between chains.
"use strict";

function showTests(report) {
    const { data } = report;
    if (data.chains.length < 2 || data.units < 2) return null;
    const caption = element("p", { class: "quiet" });
    const rows = report.chosen("tests").length;
    const chain = (key, at) => ({
        key,
        label: key,
        width: widthOf(data.chains),
        text: true,
        value: (row) => data.chains[report.chosen("tests")[row][at]],
        cell: (row) => nameElement(data.chains[report.chosen("tests")[row][at]]),
    });
    const columns = () => {
        const tests = report.chosen("tests");
        const most = d3.max(tests, (test) => Math.abs(test[2] ?? 0)) || 1;
        return [
            chain("first", 0),
            chain("second", 1),
            {
                key: "difference",
                label: "second minus first",
                width: 12,
                value: (row) => tests[row][2],
                cell: (row) => signedBar(tests[row][2], most),
            },
            {
                key: "p",
                label: "p",
                title: "p, adjusted by Holm's method",
                width: 6,
                ascending: true,
                value: (row) => tests[row][3],
                cell: (row) => pText(tests[row][3]),
            },
        ];
    };
    const table = liveTable(report, { caption: "Differences", rows, columns, sort: { key: "p", descending: false } });
    const update = () => {
        const isTask = data.over === "tasks";
        const test = isTask ? "Wilcoxon's signed-rank test" : "the corrected resampled t-test";
        const pairs =
            rows < (data.chains.length * (data.chains.length - 1)) / 2 ? "; each chain against the first" : "";
        const holm = rows > 1 ? ` Holm's method adjusts p for ${rows} comparisons.` : "";
        const few = isTask && data.units < 6 ? " With fewer than 6 tasks p is never below 0.05." : "";
        caption.textContent =
            `Differences of ${report.about()}, with p of ${test} over ${data.units} ${data.over}${pairs}.` +
            `${holm}${few}`;
        table.update();
    };
    return { element: section("tests", "Differences", caption, table.element), update };
}

/** A number, and a bar that goes to the right for positive numbers and to the left for negative ones. */
function signedBar(number, most) {
    if (number === null) return NONE;
    const size = `--size: ${Math.abs(number / most) * 50}%`;
    const bar = element("span", {
        class: number < 0 ? "bar signed negative" : "bar signed",
        style: size,
        "aria-hidden": "true",
    });
    return element("span", { class: "barred" }, bar, `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(3)}`);
}
