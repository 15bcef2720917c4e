// Confusion of classes.
"use strict";

const MOST_CLASSES = 40; // of a heat map; with more, the most frequent errors are listed
const MOST_ERRORS = 100;

function showConfusion(report) {
    const { data, state } = report;
    if (!data.confusions.length) return null;
    const tasks = [...new Set(data.confusions.map(({ task }) => task))];
    const chosen = { task: 0, chain: data.confusions[0].chain };
    const caption = element("p", { class: "quiet" });
    const holder = element("div");
    const update = () => {
        const { chain } = chosen;
        const found = data.confusions.find(
            (each) => each.task === tasks[chosen.task] && each.chain === chain && each.share === state.share,
        );
        caption.textContent = found
            ? `Rows of each class (rows of the table) by the class that was predicted (columns), summed over folds, ` +
              `trained on ${shareText(data.shares[state.share])} of all rows. The colour shows the share of the class.`
            : "The page does not have this matrix.";
        holder.replaceChildren(
            ...(found ? [found.names.length > MOST_CLASSES ? errorList(found) : confusionMap(found)] : []),
        );
    };
    const pick = (key) => (value) => {
        chosen[key] = Number(value);
        update();
    };
    const choices = [
        tasks.length > 1
            ? choice(
                  "Task",
                  tasks.map((label, value) => ({ value, label })),
                  0,
                  pick("task"),
              )
            : null,
        data.chains.length > 1
            ? choice(
                  "Chain",
                  data.chains.map((label, value) => ({ value, label })),
                  chosen.chain,
                  pick("chain"),
              )
            : null,
    ];
    const chooser = element("div", { class: "controls" }, ...choices);
    return { element: section("confusion", "Confusion", chooser, caption, holder), update };
}

function confusionMap({ task, names, cells }) {
    const weights = names.map(() => names.map(() => 0));
    cells.forEach(([i, j, weight]) => (weights[i][j] = weight));
    const sums = weights.map((line) => d3.sum(line));
    const value = (i, j) => weights[i][j];
    const share = (i, j) => (sums[i] ? weights[i][j] / sums[i] : 0);
    return heatMap({
        caption: visible(task),
        rows: names,
        columns: names,
        value,
        share,
        text: (weight) => (weight ? count(weight) : "·"),
    }).element;
}

/** The most frequent errors, where a map of all classes would be too large. */
function errorList({ names, cells }) {
    const sums = d3.rollup(
        cells,
        (own) => d3.sum(own, (cell) => cell[2]),
        (cell) => cell[0],
    );
    const errors = d3
        .sort(
            cells.filter(([i, j]) => i !== j),
            (cell) => -cell[2],
        )
        .slice(0, MOST_ERRORS);
    const name = (key, label, at) => ({
        key,
        label,
        width: 14,
        text: true,
        value: (row) => names[errors[row][at]],
        cell: (row) => nameElement(names[errors[row][at]]),
    });
    const columns = [
        name("true", "true", 0),
        name("predicted", "predicted", 1),
        { key: "rows", label: "rows", width: 6, value: (row) => errors[row][2], cell: (row) => count(errors[row][2]) },
        {
            key: "share",
            label: "of the class",
            width: 7,
            value: (row) => errors[row][2] / sums.get(errors[row][0]),
            cell: (row) => percent(errors[row][2] / sums.get(errors[row][0])),
        },
    ];
    return sortableTable({
        caption: "Most frequent errors",
        rows: errors.length,
        columns,
        sort: { key: "rows", descending: true },
        lines: 15,
    }).element;
}
