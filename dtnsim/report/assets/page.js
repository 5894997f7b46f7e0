(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("page-data").textContent);
  var config = { displayModeBar: false, responsive: true };
  var narrow = window.matchMedia("(max-width: 620px)");

  function plots() { return Array.prototype.slice.call(document.querySelectorAll(".plot")); }

  /* on a telephone letters are smaller, of decades each third is named, and a long legend stands below, one name a line */
  function fitted(layout, traces) {
    if (!narrow.matches) { return layout; }
    var named = traces.filter(function (t) { return t.name; }).length, made = Object.assign({}, layout);
    made.font = Object.assign({}, layout.font, { size: 11 });
    if (named > 3 && layout.legend.orientation === "h") {
      made.legend = { orientation: "v", x: 0, y: -50 / ((layout.height || 360) - 66), yanchor: "top" };
      made.height = (layout.height || 360) + 18 * named;
    }
    var across = layout.xaxis || {};
    if (across.range && traces[0].text) { /* what stands beside the longest bar */
      made.xaxis = Object.assign({}, across, { range: [across.range[0], 1.2 * across.range[1]] });
    }
    if (across.type === "log" && across.tickvals) {
      made.xaxis = Object.assign({}, across, { ticktext: across.ticktext.map(function (text, n) {
        return Math.round(Math.log10(across.tickvals[n])) % 3 ? "" : text;
      }) });
    }
    return made;
  }

  plots().forEach(function (place) {
    var figure = data.figures[Number(place.dataset.figure)];
    figure.layout = fitted(figure.layout, figure.data);
    place.style.height = (figure.layout.height || 360) + "px";
    Plotly.newPlot(place, figure.data, figure.layout, config);
  });

  function printed(on) {
    plots().concat(Array.prototype.slice.call(document.querySelectorAll("#whatif-plot"))).forEach(function (place) {
      if (!place.data) { return; }
      var tall = Number(place.dataset.tall || place.layout.height), size = Number(place.dataset.size || place.layout.font.size);
      place.dataset.tall = tall;
      place.dataset.size = size;
      var high = on ? Math.min(0.8 * tall, 330) : tall; /* two of them on a sheet of paper */
      place.style.height = high + "px";
      Plotly.relayout(place, on ? { width: 660, height: high, "font.size": 11 }
        : { width: null, height: high, autosize: true, "font.size": size });
    });
  }
  window.addEventListener("beforeprint", function () { printed(true); });
  window.addEventListener("afterprint", function () { printed(false); });

  /* on a telephone a row of a table with texts is a list: each cell has its heading before it */
  document.querySelectorAll("table").forEach(function (table) {
    var heads = Array.prototype.map.call(table.tHead.rows[0].cells, function (cell) { return cell.textContent; });
    var texts = Array.prototype.slice.call(table.querySelectorAll("td:nth-child(n+2):not(.n)"));
    table.classList.toggle("stack", heads.length > 3 && texts.some(function (cell) { return cell.textContent.length > 32; }));
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      heads.forEach(function (head, n) { row.cells[n].dataset.head = head; });
    });
  });

  /* what a component of the picture is, on hover and on focus */
  document.querySelectorAll(".picture").forEach(function (picture) {
    var about = document.getElementById(picture.dataset.about);
    function show(event) {
      var at = event.target.closest("g[data-about]");
      if (!at || !about) { return; }
      about.textContent = "";
      JSON.parse(at.dataset.about).forEach(function (line) {
        var p = document.createElement("p");
        p.textContent = line;
        about.appendChild(p);
      });
    }
    picture.addEventListener("mouseover", show);
    picture.addEventListener("focusin", show);
    picture.addEventListener("click", show);
  });

  /* what if: every crossing of the sliders was worked out beforehand */
  var grid = data.whatif;
  if (!grid) { return; }
  var inputs = grid.axes.map(function (axis) { return document.getElementById("whatif-" + axis.name); });
  var answer = document.getElementById("whatif-answer");
  var plot = document.getElementById("whatif-plot");

  function number(at) {
    return grid.axes.reduce(function (sum, axis, n) { return sum * axis.labels.length + at[n]; }, 0);
  }
  function chosen() { return inputs.map(function (input) { return Number(input.value); }); }
  function draw() {
    var at = chosen(), here = number(at), rate = grid.rate[here];
    grid.axes.forEach(function (axis, n) {
      var text = axis.labels[at[n]] + (at[n] === axis.own ? " (as it is)" : "");
      document.getElementById("whatif-" + axis.name + "-value").textContent = text;
      inputs[n].setAttribute("aria-valuetext", text);
    });
    answer.textContent = rate === null
      ? "This cannot be: " + grid.stations[grid.station[here]]
      : grid.shown[here] + ", held by " + grid.stations[grid.station[here]] + " (as it is: " + grid.shown[grid.own] + ")";
    var traces = [], first = grid.axes[0];
    var y = first.labels.map(function (_, k) {
      var there = at.slice(); there[0] = k; var value = grid.rate[number(there)];
      return value === null ? null : value * 8 / 1e9;
    });
    traces.push({ type: "bar", x: first.labels.map(function (l) { return l.replace(/</g, "&lt;").replace(" of ", "<br>of "); }), y: y,
      marker: { color: first.labels.map(function (_, k) { return k === at[0] ? "#d07a1f" : "#4f8fd0"; }),
        pattern: { shape: first.labels.map(function (_, k) { return k === at[0] ? "/" : ""; }) } },
      hovertemplate: "%{x}: %{y:.4g} Gb/s<extra></extra>" });
    Plotly.react(plot, traces, Object.assign({}, fitted(grid.layout, traces), {
      xaxis: { title: { text: first.title, standoff: 8 }, type: "category", automargin: true, tickangle: 0 },
      yaxis: { title: { text: "throughput [Gb/s]" }, rangemode: "tozero", automargin: true } }), config);
    plot.setAttribute("aria-label", "Throughput over " + first.title + ": " + answer.textContent);
  }
  inputs.forEach(function (input) { input.addEventListener("input", draw); });
  draw();
})();
