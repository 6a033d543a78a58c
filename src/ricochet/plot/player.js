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
  // A way in space, seen from afar: dragged or turned by the arrow keys, zoomed by the wheel or by
  // + and -, played as above.
  function Space(root) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const canvas = root.querySelector("canvas"), pen = canvas.getContext("2d");
    const play = root.querySelector(".play"), scrub = root.querySelector(".scrub"), out = root.querySelector(".time");
    root.querySelector(".controls").hidden = false;
    const n = data.t.length, first = data.t[0], span = data.t[n - 1] - first;
    const whole = Math.abs(span) >= 3 && Math.abs(span) <= 20 ? Math.abs(span) : 8;
    const middle = data.box.map(function (b) { return (b[0] + b[1]) / 2; });
    const side = data.box[0][1] - data.box[0][0];
    let yaw = -0.6, pitch = 0.45, zoom = 1, part = 1, playing = false, before = 0, dragged = null;
    function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim() || "#888"; }
    function see(x, y, z) {  // right, down, towards the eye; z is up
      const a = (x - middle[0]) / side, b = (y - middle[1]) / side, c = (z - middle[2]) / side;
      const u = a * Math.cos(yaw) + b * Math.sin(yaw), v = b * Math.cos(yaw) - a * Math.sin(yaw);
      const depth = v * Math.cos(pitch) - c * Math.sin(pitch);
      const size = 0.5 * zoom * Math.min(canvas.width, canvas.height * 1.15) / (1 + 0.3 * depth);
      return [canvas.width / 2 + u * size, canvas.height / 2 - (c * Math.cos(pitch) + v * Math.sin(pitch)) * size, depth];
    }
    function line(list, from, to) {
      pen.beginPath();
      for (let i = from; i < to; ++i) {
        const p = see(list[3 * i], list[3 * i + 1], list[3 * i + 2]);
        if (i === from) pen.moveTo(p[0], p[1]); else pen.lineTo(p[0], p[1]);
      }
      pen.stroke();
    }
    function corner(k) { return data.box.map(function (b, i) { return b[k >> i & 1]; }); }
    function draw_box(ratio) {
      pen.strokeStyle = colour("--line"); pen.lineWidth = ratio;
      for (let k = 0; k < 8; ++k) {
        for (let i = 0; i < 3; ++i) {
          if (!(k >> i & 1)) line(corner(k).concat(corner(k | 1 << i)), 0, 2);
        }
      }
      pen.fillStyle = colour("--soft"); pen.font = 13 * ratio + "px system-ui, sans-serif";
      pen.textAlign = "center";
      for (let i = 0; i < 3; ++i) {
        const end = corner(1 << i), low = corner(0);
        const at = see.apply(null, end), from = see.apply(null, low);
        pen.fillText(Number(data.box[i][0].toPrecision(3)), from[0] + 0.12 * (at[0] - from[0]), from[1] + 0.12 * (at[1] - from[1]) + 16 * ratio);
        pen.fillText(data.names[i] + " = " + Number(data.box[i][1].toPrecision(3)), at[0] + 0.06 * (at[0] - from[0]), at[1] + 0.06 * (at[1] - from[1]) + 4 * ratio);
      }
    }
    function show() {
      const ratio = window.devicePixelRatio || 1;
      const wide = Math.round(root.clientWidth * ratio), high = Math.round(Math.min(0.62 * root.clientWidth, 560) * ratio);
      if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
      canvas.style.height = high / ratio + "px";
      pen.clearRect(0, 0, wide, high);
      draw_box(ratio);
      pen.lineWidth = ratio; pen.strokeStyle = colour("--soft"); pen.globalAlpha = 0.45;
      data.walls.forEach(function (wall) { line(wall, 0, wall.length / 3); });
      const at = first + part * span;
      let k = 0;
      while (k + 1 < n && (span < 0 ? data.t[k + 1] >= at : data.t[k + 1] <= at)) ++k;
      pen.strokeStyle = colour("--accent"); pen.lineWidth = 1.4 * ratio;
      pen.globalAlpha = 0.3; line(data.q, 0, n);
      pen.globalAlpha = 1; line(data.q, 0, k + 1);
      const p = see(data.q[3 * k], data.q[3 * k + 1], data.q[3 * k + 2]);
      pen.fillStyle = "#d55e00"; pen.beginPath(); pen.arc(p[0], p[1], 5 * ratio, 0, 2 * Math.PI); pen.fill();
      scrub.value = Math.round(1000 * part);
      out.textContent = "t = " + Number(at.toPrecision(4));
      root.dataset.view = [yaw, pitch, zoom, part].join(" ");
    }
    function tick(now) {
      if (!playing) return;
      part = Math.min(1, part + Math.max(0, Math.min(now - before, 100)) / 1000 / whole);
      before = now;
      if (part >= 1) toggle();
      show();
      if (playing) requestAnimationFrame(tick);
    }
    function toggle() {
      playing = !playing;
      play.textContent = playing ? "❚❚" : "▶"; play.setAttribute("aria-label", playing ? "Pause" : "Play");
      if (!playing) return;
      if (part >= 1) part = 0;
      before = performance.now();
      requestAnimationFrame(tick);
    }
    function turn(dx, dy) {
      yaw += dx; pitch = Math.max(-1.55, Math.min(1.55, pitch + dy));
      show();
    }
    function closer(factor) { zoom = Math.max(0.2, Math.min(20, zoom * factor)); show(); }
    play.addEventListener("click", toggle);
    scrub.addEventListener("input", function () { part = scrub.value / 1000; show(); });
    canvas.addEventListener("pointerdown", function (e) { dragged = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointerup", function () { dragged = null; });
    canvas.addEventListener("pointermove", function (e) {
      if (!dragged) return;
      turn(-(e.clientX - dragged[0]) * 0.01, (e.clientY - dragged[1]) * 0.01);
      dragged = [e.clientX, e.clientY];
    });
    canvas.addEventListener("wheel", function (e) { e.preventDefault(); closer(Math.exp(-0.0015 * e.deltaY)); }, { passive: false });
    canvas.addEventListener("dblclick", function () { yaw = -0.6; pitch = 0.45; zoom = 1; show(); });
    root.addEventListener("keydown", function (e) {
      if (e.target !== root) return;
      const keys = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
      if (keys[e.key]) turn(keys[e.key][0], keys[e.key][1]);
      else if (e.key === "+") closer(1.2);
      else if (e.key === "-") closer(1 / 1.2);
      else if (e.key === " ") toggle();
      else return;
      e.preventDefault();
    });
    window.addEventListener("resize", show);
    document.addEventListener("themechange", show);
    show();
  }
  // Frames of bodies that are played and scrubbed: `show(at, k, f)` draws between frames k and k + 1.
  function Reel(root, data, show) {
    const play = root.querySelector(".play"), scrub = root.querySelector(".scrub"), out = root.querySelector(".time");
    const n = data.t.length, first = data.t[0], span = data.t[n - 1] - first;
    const whole = span >= 3 && span <= 20 ? span : 8;
    let part = 0, playing = false, before = 0;
    root.querySelector(".controls").hidden = false;
    function draw() {
      const at = first + part * span;
      let k = 0;
      while (k + 1 < n && data.t[k + 1] <= at) ++k;
      show(at, k, k + 1 < n ? (at - data.t[k]) / (data.t[k + 1] - data.t[k]) : 0);
      scrub.value = Math.round(1000 * part);
      out.textContent = "t = " + Number(at.toPrecision(4));
      root.dataset.view = [n, data.bodies.length, part].join(" ");
    }
    function tick(now) {
      if (!playing) return;
      part = Math.min(1, part + Math.max(0, Math.min(now - before, 100)) / 1000 / whole);
      before = now;
      if (part >= 1) toggle();
      draw();
      if (playing) requestAnimationFrame(tick);
    }
    function toggle() {
      playing = !playing;
      play.textContent = playing ? "❚❚" : "▶"; play.setAttribute("aria-label", playing ? "Pause" : "Play");
      if (!playing) return;
      if (part >= 1) part = 0;
      before = performance.now();
      requestAnimationFrame(tick);
    }
    function go(to) { part = Math.max(0, Math.min(1, to)); draw(); }
    play.addEventListener("click", toggle);
    scrub.addEventListener("input", function () { go(scrub.value / 1000); });
    root.addEventListener("keydown", function (e) {
      if (e.target !== root) return;
      if (e.key === " ") toggle();
      else if (e.key === "ArrowLeft") go(part - 1 / (n - 1));
      else if (e.key === "ArrowRight") go(part + 1 / (n - 1));
      else if (e.key === "Home") go(0);
      else if (e.key === "End") go(1);
      else return;
      e.preventDefault();
    });
    window.addEventListener("resize", draw);
    document.addEventListener("themechange", draw);
    draw();
    return draw;
  }
  // As wide as its place, and as tall as `part` of that; how many pixels a point has.
  function fit(root, canvas, part) {
    const ratio = window.devicePixelRatio || 1, wide = Math.round(root.clientWidth * ratio), tall = Math.round(part * wide);
    if (canvas.width !== wide || canvas.height !== tall) { canvas.width = wide; canvas.height = tall; }
    canvas.style.height = tall / ratio + "px";
    return ratio;
  }
  // Bodies in the plane on a canvas: outlines that ride on places, lines of pushes.
  function Bodies(root) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const canvas = root.querySelector("canvas"), pen = canvas.getContext("2d");
    const [left, right, low, high] = data.box;
    function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
    function trace(outline) {
      const p = outline.p;
      if (outline.k === 0) {
        pen.moveTo(p[0] + p[2], p[1]); pen.arc(p[0], p[1], p[2], 0, 2 * Math.PI); pen.moveTo(p[0], p[1]); pen.lineTo(p[0] + p[2], p[1]);
        return;
      }
      for (let i = 0; i < p.length; i += 2) { if (i) pen.lineTo(p[i], p[i + 1]); else pen.moveTo(p[i], p[i + 1]); }
      if (outline.k === 1) pen.closePath();
    }
    Reel(root, data, function (at, k, f) {
      const ratio = fit(root, canvas, Math.max(0.2, Math.min(0.75, (high - low) / (right - left)))), wide = canvas.width, tall = canvas.height;
      pen.setTransform(1, 0, 0, 1, 0, 0); pen.clearRect(0, 0, wide, tall);
      const scale = Math.min(wide / (right - left), tall / (high - low));
      const ox = wide / 2 - scale * (left + right) / 2, oy = tall / 2 + scale * (low + high) / 2;
      const a = data.q[k], b = data.q[Math.min(k + 1, data.q.length - 1)];
      pen.lineCap = "round"; pen.strokeStyle = "#d55e00"; pen.globalAlpha = 0.6;
      const lines = data.f[k];
      for (let i = 0; i < lines.length; i += 5) {
        pen.lineWidth = Math.max(0.5, 7 * lines[i + 4]) * ratio;
        pen.beginPath(); pen.moveTo(ox + scale * lines[i], oy - scale * lines[i + 1]); pen.lineTo(ox + scale * lines[i + 2], oy - scale * lines[i + 3]); pen.stroke();
      }
      pen.globalAlpha = 1;
      data.bodies.forEach(function (body, i) {
        if (body.b > at) return;
        const x = a[3 * i] + f * (b[3 * i] - a[3 * i]), y = a[3 * i + 1] + f * (b[3 * i + 1] - a[3 * i + 1]);
        const w = a[3 * i + 2] + f * (b[3 * i + 2] - a[3 * i + 2]), c = scale * Math.cos(w), s = scale * Math.sin(w);
        pen.setTransform(c, -s, -s, -c, ox + scale * x, oy - scale * y);
        pen.strokeStyle = colour(body.m ? "--accent" : "--soft"); pen.lineWidth = 1.4 * ratio / scale;
        pen.beginPath(); body.o.forEach(trace); pen.stroke();
      });
    });
  }
  // Bodies of space: faces that look here, the far ones first; turned by dragging, zoomed by the wheel.
  function Solids(root) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const canvas = root.querySelector("canvas"), pen = canvas.getContext("2d"), middle = data.middle;
    let yaw = -0.6, pitch = 0.45, zoom = 1, dragged = null, eye = [];
    function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim() || "#888"; }
    function see(p) {  // right, up, towards the eye
      const x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2];
      return [0, 3, 6].map(function (r) { return eye[r] * x + eye[r + 1] * y + eye[r + 2] * z; });
    }
    function place(a, b, f, i) {  // x, and the rotation as a matrix
      const q = [], c = 7 * i;
      let dot = 0, norm = 0;
      for (let k = 3; k < 7; ++k) dot += a[c + k] * b[c + k];
      for (let k = 0; k < 7; ++k) q.push(a[c + k] + f * ((k > 2 && dot < 0 ? -b[c + k] : b[c + k]) - a[c + k]));
      for (let k = 3; k < 7; ++k) norm += q[k] * q[k];
      norm = 2 / norm;
      const w = q[3], x = q[4], y = q[5], z = q[6];
      const m = [1 - norm * (y * y + z * z), norm * (x * y - w * z), norm * (x * z + w * y), norm * (x * y + w * z), 1 - norm * (x * x + z * z),
        norm * (y * z - w * x), norm * (x * z - w * y), norm * (y * z + w * x), 1 - norm * (x * x + y * y)];
      return function (p, at) {
        const u = p[at], v = p[at + 1], t = p[at + 2];
        return see([q[0] + m[0] * u + m[1] * v + m[2] * t, q[1] + m[3] * u + m[4] * v + m[5] * t, q[2] + m[6] * u + m[7] * v + m[8] * t]);
      };
    }
    function gather(a, b, f, at) {
      const items = [];
      data.bodies.forEach(function (body, i) {
        if (body.b > at) return;
        const put = place(a, b, f, i);
        for (let k = 0; k < body.s.length; k += 4) {
          const p = put(body.s, k);
          items.push({ m: body.m, z: p[2], p: [p], r: body.s[k + 3], spot: [put([body.s[k] + body.s[k + 3], body.s[k + 1], body.s[k + 2]], 0)] });
        }
        body.f.forEach(function (face) {
          const p = [];
          let z = 0;
          for (let k = 0; k < face.length; k += 3) { p.push(put(face, k)); z += p[p.length - 1][2]; }
          const front = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]) > 0;
          if (front || !body.m) items.push({ m: body.m, z: z / p.length, p: p, r: 0 });
        });
      });
      return items.sort(function (u, v) { return u.m - v.m || u.z - v.z; });
    }
    const draw = Reel(root, data, function (at, k, f) {
      const ratio = fit(root, canvas, 0.62), wide = canvas.width, tall = canvas.height;
      const c = Math.cos(yaw), s = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
      eye = [c, s, 0, -s * sp, c * sp, cp, s * cp, -c * cp, sp];
      const scale = zoom * 0.55 * Math.min(wide, tall * 1.1) / data.reach;
      function px(p) { return [wide / 2 + scale * p[0], tall / 2 - scale * p[1]]; }
      const solid = colour("--accent"), soft = colour("--soft"), paper = colour("--paper"), line = colour("--line");
      pen.clearRect(0, 0, wide, tall); pen.lineWidth = ratio; pen.lineJoin = "round";
      gather(data.q[k], data.q[Math.min(k + 1, data.q.length - 1)], f, at).forEach(function (item) {
        pen.beginPath();
        if (item.r) { const o = px(item.p[0]); pen.arc(o[0], o[1], Math.max(0.6, scale * item.r), 0, 2 * Math.PI); }
        item.p.forEach(function (p, n) { const o = px(p); if (item.r) return; if (n) pen.lineTo(o[0], o[1]); else pen.moveTo(o[0], o[1]); });
        pen.closePath(); pen.fillStyle = item.m ? paper : line; pen.globalAlpha = item.m ? 1 : 0.35; pen.fill();
        pen.globalAlpha = 1; pen.strokeStyle = item.m ? solid : soft; pen.stroke();
        if (!item.r || item.spot[0][2] < item.z) return;
        const o = px(item.spot[0]);
        pen.beginPath(); pen.arc(o[0], o[1], 1.5 * ratio, 0, 2 * Math.PI); pen.fillStyle = solid; pen.fill();
      });
      const lines = data.f[k];
      pen.lineCap = "round"; pen.strokeStyle = "#d55e00"; pen.globalAlpha = 0.5;
      for (let i = 0; i < lines.length; i += 7) {
        const from = px(see(lines.slice(i, i + 3))), to = px(see(lines.slice(i + 3, i + 6)));
        pen.lineWidth = Math.max(0.5, 6 * lines[i + 6]) * ratio;
        pen.beginPath(); pen.moveTo(from[0], from[1]); pen.lineTo(to[0], to[1]); pen.stroke();
      }
      pen.globalAlpha = 1;
    });
    canvas.addEventListener("pointerdown", function (e) { dragged = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointerup", function () { dragged = null; });
    canvas.addEventListener("pointermove", function (e) {
      if (!dragged) return;
      yaw -= (e.clientX - dragged[0]) * 0.01; pitch = Math.max(-1.55, Math.min(1.55, pitch + (e.clientY - dragged[1]) * 0.01));
      dragged = [e.clientX, e.clientY];
      draw();
    });
    canvas.addEventListener("wheel", function (e) { e.preventDefault(); zoom = Math.max(0.2, Math.min(20, zoom * Math.exp(-0.0015 * e.deltaY))); draw(); }, { passive: false });
    canvas.addEventListener("dblclick", function () { yaw = -0.6; pitch = 0.45; zoom = 1; draw(); });
  }
  // Light or dark, whatever the system says: kept for the next page.
  function Theme(button) {
    function dark() {
      const set = document.documentElement.dataset.theme;
      return set ? set === "dark" : window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches;
    }
    function store(value) {
      try {
        if (value) localStorage.setItem("ricochet-theme", value);
        return localStorage.getItem("ricochet-theme");
      } catch (e) { return null; }
    }
    const kept = store();
    if (kept) document.documentElement.dataset.theme = kept;
    button.hidden = false;
    button.addEventListener("click", function () {
      document.documentElement.dataset.theme = store(dark() ? "light" : "dark") || (dark() ? "light" : "dark");
      document.dispatchEvent(new Event("themechange"));
    });
  }
  function begin() {
    document.querySelectorAll(".theme").forEach(Theme);
    document.querySelectorAll(".player").forEach(function (root) { Player(root); });
    document.querySelectorAll(".space").forEach(function (root) { const kind = root.classList; (kind.contains("bodies") ? Bodies : kind.contains("solids") ? Solids : Space)(root); });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
})();
