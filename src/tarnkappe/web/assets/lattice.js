// The whole lattice on a canvas: one dot a node, more general ones higher, zoomed by wheel, pinch, buttons or keys.
// Nodes arrive from the service as columns of numbers; thousands are drawn in a few milliseconds.
const RAMP = [[11, 110, 105], [47, 158, 143], [134, 207, 174], [211, 235, 192], [247, 244, 207]];
const ramp = (share) => {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const below = Math.min(Math.floor(place), RAMP.length - 2);
  return `rgb(${RAMP[below].map((part, i) => Math.round(part + (place - below) * (RAMP[below + 1][i] - part))).join(",")})`;
};
export default {
  props: { address: String, words: Object, chosen: Number },
  emits: ["choose"],
  data: () => ({ nodes: null, failed: "", zoom: 1, x: 0, y: 0, current: -1, said: "" }),
  mounted() {
    this.pointers = new Map();
    this.redraw = () => requestAnimationFrame(() => this.draw());
    this.watcher = new ResizeObserver(this.redraw);
    this.watcher.observe(this.$refs.canvas);
    window.addEventListener("tarnkappe-theme", this.redraw);
    this.load();
  },
  unmounted() { this.watcher.disconnect(); window.removeEventListener("tarnkappe-theme", this.redraw); },
  watch: { address() { this.load(); }, chosen(place) { if (place >= 0) { this.current = place; this.say(); this.draw(); } } },
  methods: {
    async load() {
      const answer = await fetch(this.address);
      if (!answer.ok) { this.failed = this.words.failed; return; }
      this.place(await answer.json());
      this.current = this.chosen >= 0 ? this.chosen : this.nodes.best;
      this.say();
      this.draw();
    },
    place(found) {
      const rows = new Map();
      found.nodes.forEach((levels, i) => {
        const height = levels.reduce((a, b) => a + b, 0);
        if (!rows.has(height)) rows.set(height, []);
        rows.get(height).push(i);
      });
      const heights = [...rows.keys()].sort((a, b) => a - b);
      const widest = Math.max(...[...rows.values()].map((row) => row.length));
      found.at = new Array(found.nodes.length);
      heights.forEach((height, number) => {
        const row = rows.get(height);
        row.forEach((i, k) => { found.at[i] = [(k + 0.5 - row.length / 2) / Math.max(widest, 12), number / Math.max(heights.length - 1, 1)]; });
      });
      found.rows = heights.map((height) => rows.get(height));
      found.gap = [1 / Math.max(widest, 12), 1 / Math.max(heights.length - 1, 1)];
      const good = found.loss.filter((loss, i) => found.satisfied[i] && loss !== null);
      found.least = Math.min(...good);
      found.span = Math.max(...good) - found.least || 1;
      found.shade = found.loss.map((loss) => (loss - found.least) / found.span);
      found.fill = found.shade.map(ramp);
      found.index = new Map(found.nodes.map((levels, i) => [levels.join(), i]));
      this.nodes = Vue.markRaw(found);
    },
    size() { const box = this.$refs.canvas.getBoundingClientRect(); return [box.width, box.height]; },
    // Where nodes stand now: what does not depend on the node is asked for once, since thousands are drawn.
    where() {
      const [width, height] = this.size();
      const { x: dx, y: dy, zoom } = this;
      const at = this.nodes.at;
      return (i) => [width / 2 + (at[i][0] * (width - 40) + dx) * zoom, height / 2 + ((0.5 - at[i][1]) * (height - 50) + dy) * zoom];
    },
    spot(i) { return this.where()(i); },
    draw() {
      const canvas = this.$refs.canvas;
      if (!canvas || !this.nodes) return;
      const [width, height] = this.size();
      const sharp = window.devicePixelRatio || 1;
      if (canvas.width !== Math.round(width * sharp)) canvas.width = Math.round(width * sharp);
      if (canvas.height !== Math.round(height * sharp)) canvas.height = Math.round(height * sharp);
      const style = getComputedStyle(document.documentElement);
      const colour = (name) => style.getPropertyValue(name).trim();
      const brush = canvas.getContext("2d");
      brush.setTransform(sharp, 0, 0, sharp, 0, 0);
      brush.clearRect(0, 0, width, height);
      const near = Math.min(this.nodes.gap[0] * (width - 40), this.nodes.gap[1] * (height - 50)) * this.zoom;
      const radius = Math.min(Math.max(near * 0.4, 1.2), 26);
      this.radius = radius;
      if (this.current >= 0) this.lines(brush, colour("--edge"));
      const [failing, edge, ink] = [colour("--line"), colour("--edge"), colour("--ink")];
      const { nodes, satisfied, shade, fill } = this.nodes;
      const spot = this.where();
      for (let i = 0; i < nodes.length; i += 1) {
        const [x, y] = spot(i);
        if (x < -radius || x > width + radius || y < -radius || y > height + radius) continue;
        brush.fillStyle = satisfied[i] ? fill[i] : failing;
        if (radius <= 3) { brush.fillRect(x - radius, y - radius, 2 * radius, 2 * radius); continue; }
        brush.beginPath();
        brush.arc(x, y, radius, 0, 7);
        brush.fill();
        brush.lineWidth = 1;
        brush.strokeStyle = edge;
        brush.stroke();
        if (radius > 13) {
          brush.fillStyle = satisfied[i] ? (shade[i] < 0.35 ? "#ffffff" : "#1c2430") : ink;
          brush.font = `${Math.min(radius * 0.62, 12)}px system-ui, sans-serif`;
          brush.textAlign = "center";
          brush.textBaseline = "middle";
          brush.fillText(nodes[i].join(" "), x, y, radius * 1.8);
        }
      }
      canvas.dataset.nodes = this.nodes.nodes.length;
      this.ring(brush, this.nodes.best, colour("--mark"), radius + 3);
      this.ring(brush, this.current, colour("--focus"), radius + 6);
    },
    ring(brush, i, colour, radius) {
      if (i < 0 || i === null) return;
      const [x, y] = this.spot(i);
      brush.beginPath();
      brush.arc(x, y, Math.max(radius, 5), 0, 7);
      brush.lineWidth = 2.5;
      brush.strokeStyle = colour;
      brush.stroke();
    },
    lines(brush, colour) {
      const from = this.spot(this.current);
      brush.strokeStyle = colour;
      brush.lineWidth = 1;
      for (const other of this.neighbours(this.current)) {
        const to = this.spot(other);
        brush.beginPath();
        brush.moveTo(...from);
        brush.lineTo(...to);
        brush.stroke();
      }
    },
    neighbours(i) {
      const levels = this.nodes.nodes[i];
      return levels.flatMap((level, column) => [1, -1].map((step) => {
        const other = levels.slice();
        other[column] = level + step;
        return this.nodes.index.get(other.join());
      })).filter((found) => found !== undefined);
    },
    nearest(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      let [best, least] = [-1, Math.max(this.radius + 4, 10) ** 2];
      const spot = this.where();
      for (let i = 0; i < this.nodes.nodes.length; i += 1) {
        const [x, y] = spot(i);
        const far = (x - px) ** 2 + (y - py) ** 2;
        if (far < least) [best, least] = [i, far];
      }
      return best;
    },
    say() {
      if (!this.nodes || this.current < 0) { this.said = ""; return; }
      const [i, found, words] = [this.current, this.nodes, this.words];
      const levels = found.columns.map((name, k) => `${name} ${found.nodes[i][k]}`).join(", ");
      const loss = found.loss[i] === null ? "–" : Number(found.loss[i].toPrecision(5)).toLocaleString(words.language);
      this.said = `${levels} · ${found.satisfied[i] ? words.keeps : words.breaks} · ${words.loss} ${loss} · ${words.suppressed} ${found.suppressed[i].toLocaleString(words.language)}`;
    },
    pick(i) { if (i < 0) return; this.current = i; this.say(); this.draw(); this.$emit("choose", i); },
    scale(by) { this.zoom = Math.min(Math.max(this.zoom * by, 1), 400); if (this.zoom === 1) { this.x = 0; this.y = 0; } this.draw(); },
    centre() { if (this.current >= 0) { const [width, height] = this.size(); const [x, y] = this.nodes.at[this.current]; this.x = -x * (width - 40); this.y = (y - 0.5) * (height - 50); } },
    whole() { this.zoom = 1; this.x = 0; this.y = 0; this.draw(); },
    wheel(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const [dx, dy] = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
      const before = this.zoom;
      this.zoom = Math.min(Math.max(before * Math.exp(-event.deltaY / 400), 1), 400);
      this.x += dx / this.zoom - dx / before;
      this.y += dy / this.zoom - dy / before;
      if (this.zoom === 1) { this.x = 0; this.y = 0; }
      this.draw();
    },
    down(event) { this.pointers.set(event.pointerId, event); this.moved = false; },
    move(event) {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const others = [...this.pointers.values()].filter((other) => other.pointerId !== event.pointerId);
      if (others.length) {
        const far = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
        this.zoom = Math.min(Math.max((this.zoom * far(event)) / Math.max(far(before), 1), 1), 400);
      } else {
        this.x += (event.clientX - before.clientX) / this.zoom;
        this.y += (event.clientY - before.clientY) / this.zoom;
      }
      if (Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 2) this.moved = true;
      this.pointers.set(event.pointerId, event);
      this.draw();
    },
    up(event) { const clicked = this.pointers.size === 1 && !this.moved; this.pointers.delete(event.pointerId); if (clicked && this.nodes) this.pick(this.nearest(event)); },
    key(event) {
      if (!this.nodes) return;
      const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };
      if (event.key === "+" || event.key === "=") { this.centre(); this.scale(1.5); }
      else if (event.key === "-") this.scale(1 / 1.5);
      else if (event.key === "0") this.whole();
      else if (event.key === "Enter" || event.key === " ") this.pick(this.current);
      else if (steps[event.key]) this.walk(...steps[event.key]);
      else return;
      event.preventDefault();
    },
    walk(up, aside) {
      if (this.current < 0) { this.current = this.nodes.best >= 0 ? this.nodes.best : 0; this.say(); this.draw(); return; }
      const height = this.nodes.rows.findIndex((row) => row.includes(this.current));
      const row = this.nodes.rows[height + up];
      if (!row) return;
      const place = aside ? row.indexOf(this.current) + aside
        : row.reduce((near, i, k) => (Math.abs(this.nodes.at[i][0] - this.nodes.at[this.current][0]) < Math.abs(this.nodes.at[row[near]][0] - this.nodes.at[this.current][0]) ? k : near), 0);
      if (row[place] === undefined) return;
      this.current = row[place];
      if (this.zoom > 1) this.centre();
      this.say();
      this.draw();
    },
  },
  template: `
    <div class="lattice">
      <p v-if="failed" class="notice bad" role="alert">{{ failed }}</p>
      <div class="line">
        <button type="button" class="button small" @click="scale(1.5)">{{ words.closer }}</button>
        <button type="button" class="button small" @click="scale(1 / 1.5)">{{ words.farther }}</button>
        <button type="button" class="button small" @click="whole()">{{ words.whole }}</button>
      </div>
      <canvas ref="canvas" tabindex="0" role="application" :aria-label="words.label" @keydown="key" @wheel.prevent="wheel"
        @pointerdown="down" @pointermove="move" @pointerup="up" @pointercancel="up" @pointerleave="pointers.clear()"></canvas>
      <p class="said" role="status">{{ said }}</p>
    </div>`,
};
