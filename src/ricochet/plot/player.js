// Plays the motion of a page: no library, no network. Times of frames need not be even: the slider
// goes by time, and between two frames places are interpolated.
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const reduce = window.matchMedia && matchMedia("(prefers-reduced-motion: reduce)").matches;
  function make(parent, tag, cls) {
    const e = document.createElementNS(SVG, tag);
    e.setAttribute("class", cls);
    parent.appendChild(e);
    return e;
  }
  function Player(root) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const svg = root.querySelector("svg.rico");
    const live = svg.querySelector("g.live");
    const controls = root.querySelector(".controls");
    const play = root.querySelector(".play");
    const scrub = root.querySelector(".scrub");
    const out = root.querySelector(".time");
    const speed = root.querySelector(".speed");
    const n = data.t.length, first = data.t[0], last = data.t[n - 1], span = last - first;
    // Motions of some seconds are shown as fast as they are, others in eight seconds.
    const whole = Math.abs(span) >= 3 && Math.abs(span) <= 20 ? Math.abs(span) : 8;
    controls.hidden = false;
    const [bx, by, bw, bh] = data.box;
    const box = make(live, "svg", "");
    box.setAttribute("x", bx); box.setAttribute("y", by);
    box.setAttribute("width", bw); box.setAttribute("height", bh);
    box.setAttribute("viewBox", [bx, by, bw, bh].join(" "));
    const wall = data.w.length ? make(box, "path", "wall") : null;
    if (wall) svg.querySelectorAll("g.walls").forEach(function (g) { g.setAttribute("display", "none"); });
    const trail = data.history || data.trail === false ? null : make(box, "path", "trail");
    const cursor = data.history ? make(box, "line", "cursor") : null;
    const flash = make(box, "circle", "flash");
    const body = make(box, "path", "moving");
    const arrows = make(box, "path", "arrow");
    const dots = [];
    for (let j = 0; j < data.p[0].length / 2; ++j) {
      const dot = make(box, "circle", "dot dot" + j);
      dot.setAttribute("r", data.b.length ? 3 : 5);
      dots.push(dot);
    }
    let at = first, playing = false, before = 0;
    function frame(t) {  // the last frame not after t
      let low = 0, high = n - 1;
      const s = span < 0 ? -1 : 1;
      while (low < high) {
        const m = (low + high + 1) >> 1;
        if (s * data.t[m] <= s * t) low = m; else high = m - 1;
      }
      return low;
    }
    function mix(list, k, f) {
      const a = list[k], b = list[Math.min(k + 1, n - 1)];
      return a.map(function (v, i) { return v + f * (b[i] - v); });
    }
    function outline(v) {
      let d = "", i = 0;
      data.parts.forEach(function (part) {
        if (part.kind === "circle") {
          const x = v[i], y = v[i + 1], r = Math.abs(v[i + 2]);
          d += "M" + (x - r) + " " + y + "a" + r + " " + r + " 0 1 0 " + 2 * r + " 0a" + r + " " + r + " 0 1 0 " + -2 * r + " 0";
          i += 3;
          return;
        }
        for (let k = 0; k < part.points; ++k, i += 2) {
          d += (k ? "L" : "M") + v[i] + " " + v[i + 1];
          if (part.kind === "point") d += "h0";
        }
        if (part.kind === "outline") d += "Z";
      });
      return d;
    }
    function arrow(v) {
      let d = "";
      for (let i = 0; i + 3 < v.length; i += 4) {
        const dx = v[i + 2] - v[i], dy = v[i + 3] - v[i + 1], l = Math.hypot(dx, dy) || 1;
        const ux = dx / l * 6, uy = dy / l * 6;
        d += "M" + v[i] + " " + v[i + 1] + "L" + v[i + 2] + " " + v[i + 3];
        d += "l" + (-ux - 0.5 * uy) + " " + (-uy + 0.5 * ux) + "m" + uy + " " + -ux + "L" + v[i + 2] + " " + v[i + 3];
      }
      return d;
    }
    function show() {
      const k = frame(at);
      const gap = data.t[Math.min(k + 1, n - 1)] - data.t[k];
      const f = gap ? Math.max(0, Math.min(1, (at - data.t[k]) / gap)) : 0;
      const p = mix(data.p, k, f);
      dots.forEach(function (dot, j) {
        dot.setAttribute("cx", p[2 * j].toFixed(2));
        dot.setAttribute("cy", p[2 * j + 1].toFixed(2));
      });
      if (cursor) {
        cursor.setAttribute("x1", p[0]); cursor.setAttribute("x2", p[0]);
        cursor.setAttribute("y1", by); cursor.setAttribute("y2", by + bh);
      }
      if (trail) {
        let d = "";
        for (let i = Math.max(0, k - 60); i <= k; ++i) d += (d ? "L" : "M") + data.p[i][0] + " " + data.p[i][1];
        trail.setAttribute("d", d + (d ? "L" : "M") + p[0] + " " + p[1]);
      }
      if (data.b.length) body.setAttribute("d", outline(mix(data.b, k, f)));
      // The impulses of a frame are those of the time before it.
      const now = data.a[k], next = data.a[Math.min(k + 1, n - 1)];
      const pushes = now.length === next.length ? mix(data.a, k, f) : (f > 0 ? next : now);
      arrows.setAttribute("d", arrow(pushes));
      if (wall) wall.setAttribute("d", data.w[k]);
      const near = data.shocks.some(function (s) { return Math.abs(s - at) <= Math.abs(span) / whole * 0.12; });
      const spot = next.length ? next : p;
      flash.setAttribute("r", near && spot.length ? 16 : 0);
      if (spot.length) { flash.setAttribute("cx", spot[0]); flash.setAttribute("cy", spot[1]); }
      scrub.value = span ? Math.round(1000 * (at - first) / span) : 0;
      out.textContent = "t = " + Number(at.toPrecision(4));
      root.dataset.time = at;
    }
    function tick(now) {
      if (!playing) return;
      at += Math.max(0, Math.min(now - before, 100)) / 1000 * span / whole * Number(speed.value);
      before = now;
      if ((span >= 0 && at >= last) || (span < 0 && at <= last)) { at = last; stop(); }
      show();
      if (playing) requestAnimationFrame(tick);
    }
    function start() {
      if (playing) return;
      if (at === last) at = first;
      playing = true;
      play.textContent = "❚❚"; play.setAttribute("aria-label", "Pause");
      before = performance.now();
      requestAnimationFrame(tick);
    }
    function stop() {
      playing = false;
      play.textContent = "▶"; play.setAttribute("aria-label", "Play");
    }
    function go(k) { stop(); at = data.t[Math.max(0, Math.min(n - 1, k))]; show(); }
    play.addEventListener("click", function () { playing ? stop() : start(); });
    scrub.addEventListener("input", function () { stop(); at = first + span * scrub.value / 1000; show(); });
    root.addEventListener("keydown", function (e) {
      if (e.target === speed || e.ctrlKey || e.altKey || e.metaKey) return;
      const step = e.shiftKey ? 10 : 1;
      if (e.key === " ") { if (e.target === play) return; playing ? stop() : start(); }
      else if (e.key === "ArrowRight") go(frame(at) + step);
      else if (e.key === "ArrowLeft") go(frame(at) - step);
      else if (e.key === "Home") go(0);
      else if (e.key === "End") go(n - 1);
      else return;
      e.preventDefault();
    });
    show();
    if (location.hash === "#play" && !reduce) start();
  }
  function begin() { document.querySelectorAll(".player").forEach(function (root) { Player(root); }); }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
})();
