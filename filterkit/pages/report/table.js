// A table that follows what is chosen.
"use strict";

/**
 * A sortable table whose values change with the chosen measure and share, while its order goes on to be by the same
 * column. `columns` makes them anew; otherwise as sortableTable.
 */
function liveTable(report, { columns, sort, ...others }) {
    let base = sort;
    const suffix = () => `|${report.state.measure}|${report.state.share}`; // a key always stands for the same values
    const keyed = () => columns().map((column) => ({ ...column, key: column.key + suffix() }));
    const order = () => ({ ...base, key: base.key + suffix() });
    const onSort = ({ key, descending }) => (base = { key: key.split("|")[0], descending });
    const table = sortableTable({ ...others, columns: keyed(), sort: order(), onSort });
    return { element: table.element, update: () => table.setColumns(keyed(), order()) };
}
