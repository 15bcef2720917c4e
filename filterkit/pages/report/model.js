// What the sections ask about the results, and how they write numbers and texts.
"use strict";

/** The data, and what is chosen of it. */
class Report {
    constructor(data, state) {
        Object.assign(this, { data, state });
        this.measures = new Map(data.measures.map((measure) => [measure.name, measure]));
    }

    get measure() {
        return this.measures.get(this.state.measure);
    }

    /** What belongs to the chosen measure and share in data.ranks, data.wins or data.tests. */
    chosen(name) {
        return this.data[name][this.state.measure][this.state.share];
    }

    mean(chain, share = this.state.share, measure = this.state.measure) {
        return this.data.summary[measure][chain][share][0];
    }

    error(chain, share = this.state.share, measure = this.state.measure) {
        return this.data.summary[measure][chain][share][1];
    }

    /** The numbers of the best values of a measure, which may be several or, if none is known, none. */
    best(values, measure = this.state.measure) {
        const known = values.filter((value) => value !== null);
        const best = this.measures.get(measure).loss ? d3.min(known) : d3.max(known);
        return new Set(d3.range(values.length).filter((i) => values[i] !== null && values[i] === best));
    }

    /** The chosen measure and share as a text. */
    about() {
        const trained =
            this.data.shares.length > 1 ? `, trained on ${shareText(this.data.shares[this.state.share])}` : "";
        return `${this.measure.title}${this.measure.loss ? " (smaller is better)" : ""}${trained}`;
    }
}

function shareText(share) {
    return `${+(share * 100).toPrecision(3)} %`;
}

/** The rem that a column of names needs, within limits. */
function widthOf(names) {
    return Math.max(6, Math.min(16, 0.55 * d3.max(names, (name) => name.length) + 1.5));
}

/** A text with a capital letter at its beginning. */
function sentence(text) {
    return `${text[0].toUpperCase()}${text.slice(1)}`;
}

function meanText(mean, error) {
    return mean === null ? NONE : `${valueText(mean)}${error === null ? "" : ` ± ${valueText(error)}`}`;
}

/** The text of a number with three decimals, or as many digits if it is small. */
function valueText(value) {
    return Math.abs(value) > 0 && Math.abs(value) < 0.0005 ? value.toPrecision(3) : value.toFixed(3);
}

function pText(p) {
    return p === null ? NONE : p < 0.0001 ? "<0.0001" : `${+p.toPrecision(2)}`; // as in a table
}
