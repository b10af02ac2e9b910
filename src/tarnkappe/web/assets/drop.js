// A place to drop a file, or to choose one. The file goes to the service as it is, in one stream, never through the page.
export default {
  props: { address: String, header: String, token: String, title: String, help: String, choose: String, sending: String, lost: String },
  emits: ["done", "failed"],
  data: () => ({ over: false, share: null, name: "" }),
  methods: {
    take(files) {
      this.over = false;
      if (!files.length || this.share !== null) return;
      const file = files[0];
      const request = new XMLHttpRequest();
      this.name = file.name;
      this.share = 0;
      request.open("POST", `${this.address}?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader(this.header, this.token);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.upload.onprogress = (event) => { if (event.lengthComputable) this.share = event.loaded / event.total; };
      request.onload = () => {
        this.share = null;
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch (error) { answer = { detail: request.statusText }; }
        if (request.status < 300) this.$emit("done", answer);
        else this.$emit("failed", { status: request.status, answer });
      };
      request.onerror = () => { this.share = null; this.$emit("failed", { status: 0, answer: { detail: this.lost } }); };
      request.send(file);
    },
  },
  template: `
    <div>
      <label class="drop" :class="{ over }" @dragover.prevent="over = true" @dragleave="over = false" @drop.prevent="take($event.dataTransfer.files)">
        <b>{{ title }}</b><span class="soft">{{ help }}</span><br>
        <input type="file" class="unseen" :aria-label="choose" :disabled="share !== null" accept=".csv,.tsv,.txt,.parquet,.xlsx,.xls,.xlsb,.ods,.dta,.sav,.zsav,.por,.sas7bdat,.xpt,.json,.ndjson,.jsonl,.arrow,.feather,.gz,.bz2,.zst,.lz4,.zip"
          @keydown.enter.prevent="$event.target.click()" @change="take($event.target.files); $event.target.value = ''">
        <span class="button" aria-hidden="true">{{ choose }}</span>
      </label>
      <div v-if="share !== null" role="status" style="margin-top: .8rem">
        <p>{{ sending }} {{ name }} ({{ Math.round(100 * share) }} %)</p>
        <div class="meter"><i :style="{ width: 100 * share + '%' }"></i></div>
      </div>
    </div>`,
};
