// Predicted against true numbers, and residuals.
"use strict";

function showPoints(report) {
    const { data, state } = report;
    if (!data.points.length) return null;
    const tasks = [...new Set(data.points.map(({ task }) => task))];
    const chosen = { task: 0, chain: 0 };
    const frame = element("div", { class: "drawing pair" });
    const caption = element("figcaption", {}, "Rows of all folds. Residuals are true minus predicted numbers.");
    const draw = () => {
        if (!frame.clientWidth) return;
        const found = data.points.find(
            (each) =>
                each.task === tasks[chosen.task] && each.chain === chosen.chain && each.share === state.share,
        );
        frame.replaceChildren(...(found ? drawPoints(found, frame.clientWidth) : [NONE]));
    };
    const pick = (key, label, names) =>
        names.length > 1
            ? choice(
                  label,
                  names.map((name, value) => ({ value, label: name })),
                  0,
                  (value) => {
                      chosen[key] = Number(value);
                      draw();
                  },
              )
            : null;
    const chooser = element("div", { class: "controls" }, pick("task", "Task", tasks), pick("chain", "Chain", data.chains));
    new ResizeObserver(onNextFrame(draw)).observe(frame);
    return { element: section("points", "Predictions", chooser, element("figure", {}, frame, caption)), update: draw };
}

/** Two drawings, beside each other where there is room. */
function drawPoints({ task, numbers, predicted }, width) {
    const size = width < 600 ? width : width / 2 - 8;
    const points = numbers.map((number, i) => ({ number, said: predicted[i], residual: number - predicted[i] }));
    const ends = d3.extent(numbers);
    const draw = (x, y, labels, line) =>
        Plot.plot({
            width: size,
            height: Math.min(size, 400),
            marginLeft: 60,
            marginBottom: 42,
            ariaLabel: `${visible(task)}: ${labels[1]} against ${labels[0]}`,
            x: { label: labels[0], labelArrow: "none", nice: true },
            y: { label: labels[1], labelArrow: "none", nice: true, grid: true },
            marks: [line, Plot.dot(points, { x, y, r: 2, fill: colourOf(0), fillOpacity: 0.5 })],
        });
    const diagonal = Plot.line(ends, { x: (end) => end, y: (end) => end, strokeOpacity: 0.5 });
    return [
        draw("number", "said", ["true", "predicted"], diagonal),
        draw("said", "residual", ["predicted", "residual"], Plot.ruleY([0], { strokeOpacity: 0.5 })),
    ];
}
