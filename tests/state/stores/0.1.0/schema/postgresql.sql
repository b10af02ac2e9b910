CREATE TABLE audit_log (
	number BIGINT NOT NULL, 
	time VARCHAR NOT NULL, 
	event VARCHAR NOT NULL, 
	details TEXT NOT NULL, 
	previous VARCHAR(64) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (number)
);
CREATE TABLE exchange_answers (
	digest VARCHAR(64) NOT NULL, 
	content TEXT NOT NULL, 
	signature VARCHAR(128) NOT NULL, 
	package BYTEA, 
	PRIMARY KEY (digest)
);
CREATE TABLE exchange_consents (
	mark BYTEA NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (mark)
);
CREATE TABLE exchange_decisions (
	digest VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	person VARCHAR NOT NULL, 
	accepts BOOLEAN NOT NULL, 
	content TEXT NOT NULL, 
	signature VARCHAR(128) NOT NULL, 
	PRIMARY KEY (digest, number, person)
);
CREATE TABLE exchange_outbox (
	digest VARCHAR(64) NOT NULL, 
	receiver VARCHAR NOT NULL, 
	content TEXT NOT NULL, 
	state VARCHAR NOT NULL, 
	answer TEXT, 
	package BYTEA, 
	PRIMARY KEY (digest)
);
CREATE TABLE exchange_parts (
	digest VARCHAR(64) NOT NULL, 
	begin BIGINT NOT NULL, 
	content BYTEA NOT NULL, 
	PRIMARY KEY (digest, begin)
);
CREATE TABLE exchange_pending (
	digest VARCHAR(64) NOT NULL, 
	institution VARCHAR NOT NULL, 
	recipient VARCHAR NOT NULL, 
	trails BYTEA NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE exchange_people (
	digest VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	row INTEGER NOT NULL, 
	mark BYTEA NOT NULL, 
	PRIMARY KEY (digest, number, row)
);
CREATE INDEX ix_exchange_people_mark ON exchange_people (mark);
CREATE TABLE exchange_recommendations (
	digest VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	content TEXT NOT NULL, 
	package BYTEA, 
	package_digest VARCHAR(64), 
	PRIMARY KEY (digest, number)
);
CREATE TABLE exchange_reidentifications (
	id VARCHAR(64) NOT NULL, 
	content TEXT NOT NULL, 
	state VARCHAR NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE exchange_release_log (
	number SERIAL NOT NULL, 
	mark BYTEA NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	PRIMARY KEY (number)
);
CREATE INDEX ix_exchange_release_log_mark ON exchange_release_log (mark);
CREATE TABLE exchange_releases (
	digest VARCHAR(64) NOT NULL, 
	recipient VARCHAR NOT NULL, 
	purpose VARCHAR NOT NULL, 
	columns TEXT NOT NULL, 
	time VARCHAR NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE exchange_requests (
	digest VARCHAR(64) NOT NULL, 
	institution VARCHAR NOT NULL, 
	id VARCHAR NOT NULL, 
	content TEXT NOT NULL, 
	state VARCHAR NOT NULL, 
	deadline VARCHAR NOT NULL, 
	checks INTEGER NOT NULL, 
	PRIMARY KEY (digest), 
	UNIQUE (institution, id)
);
CREATE TABLE exchange_shared (
	institution VARCHAR NOT NULL, 
	content TEXT NOT NULL, 
	signature VARCHAR(128) NOT NULL, 
	made VARCHAR NOT NULL, 
	PRIMARY KEY (institution)
);
CREATE TABLE exchange_trails (
	institution VARCHAR NOT NULL, 
	recipient VARCHAR NOT NULL, 
	trails BYTEA NOT NULL, 
	PRIMARY KEY (institution, recipient)
);
CREATE TABLE exchange_wishes (
	id VARCHAR(64) NOT NULL, 
	receiver VARCHAR NOT NULL, 
	content TEXT NOT NULL, 
	state VARCHAR NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE exchange_withdrawals (
	mark BYTEA NOT NULL, 
	time VARCHAR NOT NULL, 
	PRIMARY KEY (mark)
);
CREATE TABLE gate_answers (
	history VARCHAR NOT NULL, 
	"column" VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	time VARCHAR NOT NULL, 
	entry BYTEA NOT NULL, 
	PRIMARY KEY (history, "column", number)
);
CREATE TABLE gate_promises (
	name VARCHAR NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE gate_states (
	history VARCHAR NOT NULL, 
	"column" VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	strategy VARCHAR NOT NULL, 
	labels TEXT NOT NULL, 
	state BYTEA NOT NULL, 
	PRIMARY KEY (history, "column")
);
CREATE TABLE privacy_budgets (
	"user" VARCHAR NOT NULL, 
	"table" VARCHAR NOT NULL, 
	granted BIGINT NOT NULL, 
	spent BIGINT NOT NULL, 
	PRIMARY KEY ("user", "table")
);
CREATE TABLE releases (
	number SERIAL NOT NULL, 
	population VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	time VARCHAR NOT NULL, 
	key VARCHAR NOT NULL, 
	about TEXT NOT NULL, 
	sizes BYTEA NOT NULL, 
	people BYTEA NOT NULL, 
	values BYTEA NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (population, name)
);
CREATE INDEX ix_releases_population ON releases (population);
CREATE TABLE service_failures (
	subject VARCHAR NOT NULL, 
	tries INTEGER NOT NULL, 
	until FLOAT NOT NULL, 
	PRIMARY KEY (subject)
);
CREATE TABLE service_files (
	id VARCHAR(32) NOT NULL, 
	owner VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	suffix VARCHAR NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created FLOAT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE service_jobs (
	id VARCHAR(32) NOT NULL, 
	kind VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	document TEXT NOT NULL, 
	state VARCHAR NOT NULL, 
	created FLOAT NOT NULL, 
	started FLOAT, 
	finished FLOAT, 
	attempts INTEGER NOT NULL, 
	exit_code INTEGER, 
	error TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE service_links (
	digest VARCHAR(64) NOT NULL, 
	name VARCHAR NOT NULL, 
	expires FLOAT NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE service_people (
	name VARCHAR NOT NULL, 
	password VARCHAR, 
	roles VARCHAR NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE service_sessions (
	digest VARCHAR(64) NOT NULL, 
	name VARCHAR NOT NULL, 
	expires FLOAT NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE service_tokens (
	id VARCHAR NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	name VARCHAR NOT NULL, 
	label VARCHAR NOT NULL, 
	roles VARCHAR NOT NULL, 
	expires FLOAT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (digest)
);
CREATE TABLE statistics_facts (
	number SERIAL NOT NULL, 
	condition_type VARCHAR NOT NULL, 
	condition_value VARCHAR NOT NULL, 
	attributes VARCHAR NOT NULL, 
	values VARCHAR NOT NULL, 
	probability FLOAT NOT NULL, 
	population BIGINT NOT NULL, 
	source VARCHAR NOT NULL, 
	valid_from VARCHAR NOT NULL, 
	margin FLOAT NOT NULL, 
	imported INTEGER NOT NULL, 
	PRIMARY KEY (number)
);
CREATE INDEX statistics_by_condition ON statistics_facts (condition_type, condition_value, attributes);
CREATE TABLE statistics_imports (
	number SERIAL NOT NULL, 
	origin VARCHAR NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	time VARCHAR NOT NULL, 
	facts INTEGER NOT NULL, 
	PRIMARY KEY (number)
);
CREATE TABLE vault_identities (
	project VARCHAR NOT NULL, 
	mark BYTEA NOT NULL, 
	pseudonym VARCHAR NOT NULL, 
	sealed BYTEA NOT NULL, 
	voucher BYTEA NOT NULL, 
	PRIMARY KEY (project, mark)
);
CREATE INDEX ix_vault_identities_pseudonym ON vault_identities (pseudonym);
CREATE TABLE vault_members (
	project VARCHAR NOT NULL, 
	person VARCHAR NOT NULL, 
	role VARCHAR NOT NULL, 
	public BYTEA NOT NULL, 
	share BYTEA NOT NULL, 
	PRIMARY KEY (project, person), 
	UNIQUE (project, public)
);
CREATE TABLE vault_pseudonyms (
	number SERIAL NOT NULL, 
	project VARCHAR NOT NULL, 
	pseudonym VARCHAR NOT NULL, 
	replaced_by VARCHAR, 
	voucher BYTEA, 
	PRIMARY KEY (number), 
	UNIQUE (project, pseudonym)
);
CREATE INDEX ix_vault_pseudonyms_replaced_by ON vault_pseudonyms (replaced_by);
CREATE TABLE vault_requests (
	number SERIAL NOT NULL, 
	project VARCHAR NOT NULL, 
	pseudonyms TEXT NOT NULL, 
	reason VARCHAR NOT NULL, 
	requester VARCHAR NOT NULL, 
	expires VARCHAR NOT NULL, 
	approver VARCHAR, 
	refused BOOLEAN NOT NULL, 
	opened BYTEA, 
	PRIMARY KEY (number)
);
CREATE TABLE vaults (
	project VARCHAR NOT NULL, 
	fields TEXT NOT NULL, 
	public BYTEA NOT NULL, 
	generation INTEGER NOT NULL, 
	PRIMARY KEY (project)
);
CREATE OR REPLACE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse();
