// Mean ranks with the critical difference.
"use strict";

function showRanks(report) {
    const { data } = report;
    if (!Object.values(data.ranks).some((each) => each.some((ranks) => ranks !== null))) return null;
    const caption = element("figcaption");
    const frame = element("div", { class: "drawing" });
    const draw = () => {
        const ranks = report.chosen("ranks");
        if (!frame.clientWidth) return;
        if (ranks === null) {
            frame.replaceChildren();
            caption.textContent = "Too few tasks have a value of this measure for ranks.";
            return;
        }
        frame.replaceChildren(drawRanks(report, ranks, Math.min(frame.clientWidth, 900)));
        caption.textContent =
            `Mean ranks over ${ranks.tasks} tasks by ${report.about()}; 1 is the best. A bar joins chains that ` +
            `Nemenyi's test does not tell apart at the level 0.05: their ranks differ by less than ` +
            `${ranks.limit.toFixed(2)}. Friedman's test that all chains are equal: ` +
            `p ${ranks.p < 0.0001 ? "" : "= "}${pText(ranks.p)}.`;
    };
    new ResizeObserver(onNextFrame(draw)).observe(frame);
    return { element: section("ranks", "Ranks", element("figure", {}, frame, caption)), update: draw };
}

/** The diagram of critical differences (Demšar 2006, Figure 1). */
function drawRanks({ data }, ranks, width) {
    const order = d3.sort(d3.range(data.chains.length), (chain) => ranks.mean[chain]);
    const longest = Math.min(
        d3.max(data.chains, (name) => name.length),
        width < 600 ? 12 : 30,
    );
    const margin = 7 * (longest + 5) + 12;
    const rows = Math.ceil(order.length / 2);
    const [axis, step] = [58, 18];
    const first = axis + 14 + 7 * ranks.groups.length;
    const height = first + rows * step + 8;
    const svg = d3
        .create("svg")
        .attr("viewBox", [0, 0, width, height])
        .attr("width", width)
        .attr("height", height)
        .attr("class", "ranks")
        .attr("role", "img")
        .attr(
            "aria-label",
            order.map((chain) => `${visible(data.chains[chain])} ${ranks.mean[chain].toFixed(2)}`).join(", "),
        );
    const x = d3.scaleLinear([1, order.length], [margin, width - margin]);
    const every = Math.max(1, Math.ceil((order.length * 24) / (width - 2 * margin)));
    const ruler = svg.append("g").attr("class", "ruler");
    ruler.append("path").attr("d", `M${x(1)},16v8m0,-4H${Math.min(x(1 + ranks.limit), width)}m0,-4v8`);
    ruler
        .append("text")
        .attr("x", x(1))
        .attr("y", 11)
        .text(`critical difference ${ranks.limit.toFixed(2)}`);
    svg.append("g")
        .attr("transform", `translate(0,${axis})`)
        .call(
            d3
                .axisTop(x)
                .tickValues(d3.range(1, order.length + 1, every))
                .tickFormat(d3.format("d"))
                .tickSizeOuter(0),
        );
    ranks.groups.forEach((group, i) => {
        const [from, to] = d3.extent(group, (chain) => x(ranks.mean[chain]));
        svg.append("line")
            .attr("class", "group")
            .attr("x1", from - 3)
            .attr("x2", to + 3)
            .attr("y1", axis + 8 + 7 * i)
            .attr("y2", axis + 8 + 7 * i);
    });
    order.forEach((chain, place) => {
        const isLeft = place < rows;
        const y = first + step * (0.5 + (isLeft ? place : order.length - 1 - place));
        const edge = isLeft ? margin - 6 : width - margin + 6;
        const mark = svg.append("g").attr("class", "rank");
        mark.append("title").text(`${visible(data.chains[chain])}: ${ranks.mean[chain].toFixed(2)}`);
        mark.append("path").attr("d", `M${x(ranks.mean[chain])},${axis}V${y}H${edge}`);
        mark.append("text")
            .attr("x", edge + (isLeft ? -4 : 4))
            .attr("y", y)
            .attr("dy", "0.32em")
            .attr("text-anchor", isLeft ? "end" : "start")
            .text(`${cut(data.chains[chain], longest)} ${ranks.mean[chain].toFixed(2)}`);
    });
    return svg.node();
}
