// Wins and losses of each pair of chains.
"use strict";

function showPairs(report) {
    const { data } = report;
    if (data.chains.length < 2 || data.units < 2) return null;
    const value = (i, j) => {
        if (i === j) return null;
        const [wins, ties] = report.chosen("wins");
        return { wins: wins[i][j], ties: ties[i][j], losses: wins[j][i] };
    };
    const text = (found) => (found === null ? "" : `${found.wins}–${found.ties}–${found.losses}`);
    const share = (i, j) => {
        const found = value(i, j);
        const all = found === null ? 0 : found.wins + found.ties + found.losses;
        return all ? (found.wins - found.losses) / all : null;
    };
    const map = heatMap({ caption: "", rows: data.chains, columns: data.chains, value, text, share });
    const update = () => {
        const unpaired = data.unpaired ? " Chains that were measured on different folds are not compared." : "";
        map.update(
            `On how many ${data.over} the chain of a row is better than, as good as, and worse than that of a ` +
                `column, by ${report.about()}. The colour shows wins minus losses.${unpaired}`,
        );
    };
    return { element: section("pairs", "Wins, ties and losses", map.element), update };
}
