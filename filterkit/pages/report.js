// The page of `filterkit report`.
//
// What readData() gives; numbers that are undefined are null.
//
// title: text
// made: {program, command, facts: [[name, text]]}
// notes: [text]                                what was left out, as whole sentences
// chains: [C names], shares: [S numbers]       of all rows that were trained on, ascending
// rows: [[data, task]] or [["fold 1", ""]]     R rows of the table of tasks; with a single task its folds
// over: "tasks" | "folds", units: number       what means and tests are over; R may be less
// shown: [name]                                measures of the first table; the first is chosen at the start
// measures: [{name, title, loss}]              of a loss, smaller values are better
// summary: {MEASURE: [C][S][mean, standard error]}
// values: {MEASURE: [R][C][S]}
// ranks: {MEASURE: [S] of {tasks, mean: [C], limit, p, groups: [[chain]]} | null}    groups: not told apart
// wins: {MEASURE: [S] of [[C][C] wins of a row's chain, [C][C] ties]}
// tests: {MEASURE: [S] of [[first, second, second minus first, p]]}     chains by number; p is adjusted
// unpaired: boolean                            whether chains were measured on different splits
// points: [{task, chain, share, numbers: [N], predicted: [N]}]       of numeric classes; chain and share by number
// confusions: [{task, chain, share, names: [N], cells: [[true, predicted, weight]]}]   chain and share by number
"use strict";

startPage((data, page) => {
    const state = { measure: data.shown[0], share: data.shares.length - 1 };
    const report = new Report(data, state);
    const views = [showMeans, showCurves, showRanks, showPairs, showTests, showTasks, showConfusion, showPoints];
    const shown = views.map((view) => view(report)).filter((view) => view !== null);
    const change = (next) => {
        Object.assign(state, next);
        shown.forEach((view) => view.update());
        announce(report.about());
    };
    page.append(head(data), controls(report, change), ...shown.map((view) => view.element));
    shown.forEach((view) => view.update());
});
