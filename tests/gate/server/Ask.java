import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Properties;

/** Asks a gate with the JDBC driver of PostgreSQL and prints what it is told: a name, a tab, cells by commas. */
public class Ask {
    static String rows(ResultSet found) throws SQLException {
        StringBuilder text = new StringBuilder();
        int columns = found.getMetaData().getColumnCount();
        while (found.next()) {
            for (int column = 1; column <= columns; column++) {
                text.append(column > 1 ? "," : "").append(found.getString(column));
            }
            text.append(";");
        }
        return text.toString();
    }

    static void say(String name, Object value) {
        System.out.println(name + "\t" + value);
    }

    static void metadata(Connection gate) throws SQLException {
        DatabaseMetaData about = gate.getMetaData();
        say("product", about.getDatabaseProductName());
        ResultSet tables = about.getTables(null, null, "%", null);
        while (tables.next()) say("table", tables.getString("TABLE_NAME") + " " + tables.getString("TABLE_TYPE"));
        ResultSet columns = about.getColumns(null, "public", "patients", "%");
        while (columns.next()) say("column", columns.getString("COLUMN_NAME") + " " + columns.getString("TYPE_NAME"));
        say("primary keys", rows(about.getPrimaryKeys(null, "public", "patients")));
        say("indices", rows(about.getIndexInfo(null, "public", "patients", false, true)));
        say("best row", rows(about.getBestRowIdentifier(null, "public", "patients", 1, true)));
        say("imported keys", rows(about.getImportedKeys(null, "public", "patients")));
        say("exported keys", rows(about.getExportedKeys(null, "public", "patients")));
        say("functions", rows(about.getFunctions(null, null, "%")));
        say("procedures", rows(about.getProcedures(null, null, "%")));
        say("user types", rows(about.getUDTs(null, null, "%", null)));
        say("schemas", rows(about.getSchemas()));
        say("keywords", about.getSQLKeywords().length() > 0);
        say("types", rows(about.getTypeInfo()).contains("int8"));
        rows(about.getTablePrivileges(null, "public", "patients"));
        rows(about.getColumnPrivileges(null, "public", "patients", "%"));
    }

    static void questions(Connection gate) throws SQLException {
        PreparedStatement prepared = gate.prepareStatement("SELECT age, disease FROM patients WHERE age > ? AND sex = ?");
        for (int time = 0; time < 7; time++) { // from the fifth time on the driver keeps the statement at the gate
            prepared.setInt(1, 40);
            prepared.setString(2, "f");
            say("prepared", rows(prepared.executeQuery()));
        }
        ParameterMetaData given = prepared.getParameterMetaData();
        say("parameters", given.getParameterTypeName(1) + " " + given.getParameterTypeName(2));
        PreparedStatement listed = gate.prepareStatement("SELECT age FROM patients WHERE age = ANY(?)");
        listed.setArray(1, gate.createArrayOf("int4", new Integer[] {20, 47}));
        say("array", rows(listed.executeQuery()));
        PreparedStatement over = gate.prepareStatement(
            "SELECT disease, count(*) FROM patients WHERE disease <> ? GROUP BY disease HAVING count(*) > ?");
        over.setString(1, "flu");
        over.setInt(2, 0);
        say("over", rows(over.executeQuery()));
        Statement plain = gate.createStatement();
        plain.setQueryTimeout(30);
        rows(plain.executeQuery("SELECT age, disease FROM patients"));
        say("warning", plain.getWarnings().getMessage());
    }

    static void transactions(Connection gate) throws SQLException {
        gate.setAutoCommit(false);
        Statement walking = gate.createStatement();
        walking.setFetchSize(7);
        say("walked", rows(walking.executeQuery("SELECT age FROM patients WHERE age > 20")).split(";").length);
        Savepoint before = gate.setSavepoint();
        try {
            gate.createStatement().executeQuery("SELECT diseas FROM patients");
        } catch (SQLException error) {
            say("error", error.getSQLState() + " " + error.getMessage().replace("\n", " "));
        }
        gate.rollback(before);
        say("after", rows(gate.createStatement().executeQuery("SELECT count(*) FROM patients")));
        gate.commit();
        gate.setReadOnly(true);
        gate.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        say("valid", gate.isValid(10));
        say("place", gate.getCatalog() + " " + gate.getSchema());
    }

    public static void main(String[] arguments) throws SQLException {
        Properties login = new Properties();
        login.put("user", "ann");
        login.put("password", System.getenv("PGPASSWORD"));
        String address = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/tarnkappe";
        try (Connection gate = DriverManager.getConnection(address, login)) {
            metadata(gate);
            questions(gate);
            transactions(gate);
        }
    }
}
