// Asks a gate with the package `pg` of node and prints what it is told, one JSON document a line.
const { Client, Pool } = require("pg");
const settings = {
  host: "127.0.0.1",
  port: Number(process.argv[2]),
  user: "ann",
  password: process.env.PGPASSWORD,
  database: "tarnkappe",
};
const say = (name, value) => console.log(JSON.stringify([name, value]));

async function refused(name, work) {
  try {
    await work;
    say(name, null);
  } catch (error) {
    say(name, [error.code, error.message, error.hint ?? null]);
  }
}

async function main() {
  const notices = [];
  const client = new Client(settings);
  client.on("notice", (notice) => notices.push(notice.message));
  await client.connect();
  const rows = async (text, values) => (await client.query(text, values)).rows;
  say("rows", await rows("SELECT age, disease FROM patients WHERE age > $1", [60]));
  say("array", await rows("SELECT age FROM patients WHERE age = ANY($1::int[])", [[20, 47]]));
  say("over", await rows("SELECT disease, count(*)::int AS n FROM patients WHERE disease <> $1 GROUP BY disease", ["flu"]));
  const named = (sex) => client.query({ name: "by sex", text: "SELECT age FROM patients WHERE sex = $1", values: [sex] });
  say("prepared", [(await named("f")).rowCount, (await named("m")).rowCount]);
  const both = await client.query("SELECT 1 AS one; SELECT count(*) AS n FROM patients");
  say("two statements", both.map((result) => result.rows));
  await client.query("BEGIN");
  await refused("column", client.query("SELECT diseas FROM patients"));
  await refused("aborted", client.query("SELECT 1"));
  await client.query("ROLLBACK");
  say("after", await rows("SELECT 1 AS one"));
  say("notices", notices);
  await client.end();
  const pool = new Pool({ ...settings, max: 2 });
  const counts = [18, 40, 60].map((least) => pool.query("SELECT count(*) FROM patients WHERE age > $1", [least]));
  say("pool", (await Promise.all(counts)).map((result) => Number(result.rows[0].count)));
  await pool.end();
}

main();
