// The table of tasks.
"use strict";

const LINES = 25; // of the table of tasks that are in view

function showTasks(report) {
    const { data, state } = report;
    const caption = element("p", { class: "quiet" });
    const values = (row) => data.values[state.measure][row].map((line) => line[state.share]);
    const isTask = data.over === "tasks";
    const names = [
        {
            key: "data",
            label: isTask ? "data" : "fold",
            width: widthOf(data.rows.map((row) => row[0])),
            text: true,
            value: isTask ? (row) => data.rows[row][0] : (row) => row,
            cell: (row) => nameElement(data.rows[row][0]),
        },
        ...(isTask
            ? [
                  {
                      key: "task",
                      label: "task",
                      width: widthOf(data.rows.map((row) => row[1])),
                      text: true,
                      value: (row) => data.rows[row][1],
                      cell: (row) => nameElement(data.rows[row][1]),
                  },
              ]
            : []),
    ];
    const columns = () => {
        const all = data.rows.map((_, row) => values(row));
        const best = all.map((line) => report.best(line));
        const gaps = all.map((line, row) =>
            line.map((value) => (value === null ? 0 : Math.abs(value - line[d3.min(best[row])]))),
        );
        const most = d3.max(gaps, (line) => d3.max(line)) || 1;
        const cell = (row, chain) => {
            const value = all[row][chain];
            if (value === null) return NONE;
            const size = `--size: ${(gaps[row][chain] / most) * 100}%`;
            const isBest = best[row].has(chain);
            const number = element(
                isBest ? "strong" : "span",
                isBest ? { class: "best", title: "best" } : {},
                valueText(value),
            );
            return element(
                "span",
                { class: "barred" },
                element("span", { class: "bar gap", style: size, "aria-hidden": "true" }),
                number,
            );
        };
        const chains = data.chains.map((name, chain) => ({
            key: `chain ${chain}`,
            label: cut(name, 20),
            title: visible(name),
            width: 5.5,
            ascending: report.measure.loss,
            value: (row) => all[row][chain],
            cell: (row) => cell(row, chain),
        }));
        return [...names, ...chains];
    };
    const table = liveTable(report, {
        caption: "Each task",
        rows: data.rows.length,
        columns,
        sort: { key: "data", descending: false },
        lines: data.rows.length > LINES ? LINES : null,
    });
    const update = () => {
        const what = isTask ? "each task, as a mean over its folds" : "each fold";
        caption.textContent =
            `${sentence(report.about())} of ${what}. The best is bold; a bar shows how far a chain is from the best ` +
            `of its row.`;
        table.update();
    };
    return { element: section("tasks", isTask ? "Tasks" : "Folds", caption, table.element), update };
}
