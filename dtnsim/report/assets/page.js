(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("page-data").textContent);
  var config = { displayModeBar: false, responsive: true };
  var narrow = window.matchMedia("(max-width: 620px)");

  function plots() { return Array.prototype.slice.call(document.querySelectorAll(".plot")); }

  plots().forEach(function (place) {
    var figure = data.figures[Number(place.dataset.figure)];
    if (narrow.matches) {
      figure.layout.font = Object.assign({}, figure.layout.font, { size: 11 });
    }
    Plotly.newPlot(place, figure.data, figure.layout, config);
  });

  function printed(on) {
    plots().concat(Array.prototype.slice.call(document.querySelectorAll("#whatif-plot"))).forEach(function (place) {
      if (!place.data) { return; }
      var tall = Number(place.dataset.tall || place.layout.height);
      place.dataset.tall = tall;
      place.style.height = (on ? Math.min(tall, 370) : tall) + "px"; /* two of them on a sheet of paper */
      Plotly.relayout(place, on ? { width: 660, height: Math.min(tall, 370) } : { width: null, height: tall, autosize: true });
    });
  }
  window.addEventListener("beforeprint", function () { printed(true); });
  window.addEventListener("afterprint", function () { printed(false); });

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
    traces.push({ type: "bar", x: first.labels.map(function (l) { return l.replace(/</g, "&lt;"); }), y: y,
      marker: { color: first.labels.map(function (_, k) { return k === at[0] ? "#d07a1f" : "#4f8fd0"; }),
        pattern: { shape: first.labels.map(function (_, k) { return k === at[0] ? "/" : ""; }) } },
      hovertemplate: "%{x}: %{y:.4g} Gb/s<extra></extra>" });
    Plotly.react(plot, traces, Object.assign({}, grid.layout, {
      xaxis: { title: { text: first.title }, type: "category", automargin: true },
      yaxis: { title: { text: "throughput [Gb/s]" }, rangemode: "tozero", automargin: true } }), config);
    plot.setAttribute("aria-label", "Throughput over " + first.title + ": " + answer.textContent);
  }
  inputs.forEach(function (input) { input.addEventListener("input", draw); });
  draw();
})();
