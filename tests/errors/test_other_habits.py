"""SQL as people of other tools type it: refused at its place with what helps, or taken with a warning."""

from __future__ import annotations

import warnings

import pytest

from workbench.arrow.types import to_column_type
from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

PARCEL = {
    "id": "bigint", "sent": "timestamp", "due": "date", "depot": "string", "kg": "double", "ok": "boolean",
    "tags": "array<string>",
}  # fmt: skip
DEPOT = {"depot": "string", "region": "string", "cap": "bigint"}
TABLES = {"Parcel": PARCEL, "Depot": DEPOT}
SCHEMA = Schema(
    {table: tuple((name, to_column_type(type_)) for name, type_ in of.items()) for table, of in TABLES.items()},
    times={"Parcel": "sent"},
)
REFUSED = (
    # Spreadsheets, Grafana, pandas, SQL Server.
    ("spark", "SELECT IF(kg > 3; 'big'; 'small') FROM Parcel", "; 'big'", "write a comma"),
    ("spark", "SELECT VLOOKUP(depot, Depot, 2) FROM Parcel", "VLOOKUP", "JOIN"),
    ("spark duckdb", "SELECT depot FROM Parcel WHERE $__timeFilter(sent)", "$", "t > now() - INTERVAL '1' HOUR"),
    ("spark", "SELECT $__timeGroup(sent, '5m') AS t FROM Parcel", "$", "t > now()"),
    ("spark", "SELECT depot FROM Parcel WHERE depot.str.contains('A')", "depot.str", "depot LIKE '%A%'"),
    ("spark", "SELECT depot FROM Parcel WHERE depot.isna()", "depot.isna()", "depot IS NULL"),
    ("spark", "SELECT depot FROM Parcel WHERE due > DATE.TODAY()", "DATE.TODAY()", "CURRENT_DATE"),
    ("spark", "SELECT Parcel.groupby('depot').sum()", "Parcel", "GROUP BY"),
    ("spark postgres", "SELECT [depot] FROM Parcel", "[", "write depot"),
    ("spark duckdb postgres", "SELECT depot FROM [Parcel]", "[", "write Parcel"),
    ("postgres", "SELECT crosstab('select 1') FROM Parcel", "crosstab", "FILTER (WHERE"),
    # Signs and words.
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE kg =< 3", "=<", "write <= for at most"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE kg BETWEEN (3 AND 5)", "(3", "without parentheses"),
    ("spark", "SELECT depot FROM Parcel WHERE sent > INTERVAL '7 days' ago", "ago", "NOW() - INTERVAL '7 days'"),
    ("duckdb spark postgres", "SELECT depot FROM Parcel WHERE sent > NOW", "NOW", "NOW()"),
    ("duckdb", "SELECT STRING_AGG(depot SEPARATOR ', ') FROM Parcel", "", "STRING_AGG(depot, ',')"),
    ("postgres", "SELECT depot FROM Parcel WHERE depot SIMILAR 'a%'", "SIMILAR", "SIMILAR TO"),
    ("postgres duckdb", "SELECT percentile_cont(0.5) WITHIN GROUP (kg) FROM Parcel", "(kg", "(ORDER BY kg)"),
    ("duckdb postgres", "SELECT rank() OVER FROM Parcel", "OVER", "OVER ()"),
    ("duckdb spark", "SELECT TRY_CAST(depot, 'int') FROM Parcel", "'int'", "TRY_CAST(depot AS "),
    ("duckdb spark postgres", "SELECT CAST(depot, 'int') FROM Parcel", "'int'", "CAST(depot AS "),
    ("spark postgres", "SELECT depot FROM Parcel p WHERE EXISTS SELECT 1 FROM Depot", "SELECT 1", "EXISTS (SELECT …)"),
    ("postgres spark", "SELECT :depot FROM Parcel", ":depot", "in a cell write :name"),
    ("spark", "SELECT kg FROM Parcel WHERE kg > :limit AND depot = 'a'", ":limit", "in a cell"),
    ("postgres", "SELECT B'101' FROM Parcel", "B'101'", "as the number"),
    # The order of clauses, and joins.
    ("spark", "SELECT p.kg FROM Parcel p JOIN Depot d WHERE p.kg = 3 ON p.depot = d.depot", "ON", "before WHERE"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel ORDER BY kg UNION SELECT depot FROM Depot", "UNION", "the end"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel LIMIT 3 UNION SELECT depot FROM Depot", "UNION", "parenthes"),
    ("duckdb spark", "WITH a AS (SELECT depot FROM Parcel)", ")", "SELECT … FROM a"),
    ("duckdb postgres spark", "SELECT kg FROM Parcel p NATURAL JOIN Depot d ON p.depot = d.depot", "ON", "NATURAL"),
    ("duckdb postgres", "SELECT kg FROM Parcel p CROSS JOIN Depot d ON p.depot = d.depot", "ON", "leave CROSS out"),
    ("duckdb", "SELECT depot FROM Parcel GROUP BY ALL depot", "depot", "leave ALL out"),
    ("duckdb", "SELECT * RENAME (kg weight) FROM Parcel", "weight", "kg AS weight"),
    ("duckdb", "SELECT * REPLACE (kg * 2) FROM Parcel", "kg * 2", "AS"),
    ("postgres", "SELECT p.depot, x.m FROM Parcel p, LATERAL (SELECT 1 AS m)", "x", "FROM has p"),
    # Functions: how many arguments, which first, of what type.
    ("spark", "SELECT DATEDIFF(sent) FROM Parcel", "DATEDIFF(sent)", "write datediff("),
    ("spark", "SELECT EXTRACT(due, YEAR) FROM Parcel", "due", "EXTRACT(YEAR FROM "),
    ("postgres", "SELECT date_part(due, 'year') FROM Parcel", "due", "('year', t)"),
    ("spark", "SELECT DATE_TRUNC(due, 'month') FROM Parcel", "DATE_TRUNC", "DATE_TRUNC('month', due)"),
    ("duckdb", "SELECT PERCENTILE_CONT(kg, 0.5) FROM Parcel", "PERCENTILE_CONT", "QUANTILE_CONT(x, 0.5)"),
    ("duckdb", "SELECT TO_TIMESTAMP(depot, 'YYYY') FROM Parcel", "TO_TIMESTAMP", "STRPTIME(s, '%Y-%m-%d')"),
    ("duckdb", "SELECT tags->'a' FROM Parcel", "tags", "it is an array"),
    ("spark duckdb", "SELECT SUM(ok) FROM Parcel", "SUM(ok)", "COUNT_IF("),
    ("duckdb", "SELECT GROUP_CONCAT(kg, ', ') FROM Parcel", "", "CAST it AS"),
    ("duckdb", "SELECT ROUND(kg, 2, 3) FROM Parcel", "3", "one too many"),
    ("spark", "SELECT AVG(NULLIF(kg, 'NaN')) FROM Parcel", "NULLIF", "write CAST('NaN' AS DOUBLE)"),
    ("duckdb", "SELECT kg FROM Parcel WHERE kg = 'inf'", "kg = 'inf'", "write CAST('inf' AS DOUBLE)"),
    ("spark", "SELECT depot FROM Parcel WHERE kg > high", "high", "there are id, "),
    ("spark", "SELECT depot FROM Parcel WHERE weight > 3", "weight", "there are id, "),
    # Said as it is thought.
    ("spark duckdb", "SELECT depot FROM Parcel WHERE sent IN LAST 7 DAYS", "7", "now() - INTERVAL '7' DAY"),
    ("spark", "SELECT AVG(kg), depot FROM Parcel PER depot", "depot", "GROUP BY depot"),
    ("spark postgres", "SELECT SUM(kg) BY depot FROM Parcel", "depot", "GROUP BY depot at the end"),
    ("spark duckdb", "SELECT depot, RANK(kg DESC) FROM Parcel", "DESC", "RANK() OVER (ORDER BY kg DESC)"),
    ("spark", "SELECT COUNT(*) FROM Parcel GROUP BY EVERY 5 MINUTES", "5", "TUMBLE(t, INTERVAL '5' MINUTE)"),
    ("spark", "SELECT * FROM Parcel EMIT CHANGES", "EMIT", "leave it out"),
    ("spark", "SELECT STREAM * FROM Parcel", "FROM", "leave STREAM out"),
    ("spark", "SELECT p.kg FROM Parcel p JOIN Depot d ON p.depot = d.depot, p.kg > 3", ">", "AND between conditions"),
    ("postgres", "SELECT EXTRACT(EPOCH sent) FROM Parcel", "EPOCH", "EXTRACT(EPOCH FROM sent)"),
    ("spark duckdb", "SELECT depot FROM Parcel WHERE depot = 'A' OR 'B'", "'B'", "x = 'A' OR x = 'B'"),
    ("spark", "SELECT kg * 100 / SUM(kg) FROM Parcel", "kg", "SUM(kg) OVER ()"),
    ("postgres", "SELECT depot FROM Parcel WHERE ROWNUM < 5", "ROWNUM", "LIMIT at the end"),
    ("spark", "SELECT TIMESTAMPDIFF(sent, due) FROM Parcel", "sent", "TIMESTAMPDIFF(DAY, "),
    ("spark", "SELECT DATEDIFF('day', due, sent) FROM Parcel", "'day'", "DATEDIFF(DAY, "),
    ("duckdb", "SELECT list_sort(tags, 'down') FROM Parcel", "list_sort", "write list_sort("),
    ("postgres", "SELECT string_agg(kg, ',') FROM Parcel", "", "CAST it AS TEXT"),
    # Pasted with what stood around it.
    ("spark duckdb postgres", "```sql\nSELECT depot FROM Parcel\n```", "```sql", "leave them out"),
    ("spark", "spark-sql> SELECT depot FROM Parcel;", "spark-sql>", "leave spark-sql> out"),
    ("spark", "spark-sql (default)> SELECT depot FROM Parcel;", "spark-sql (default)>", "(default)> out"),
    ("postgres", "shop=# SELECT depot FROM Parcel;", "shop=#", "leave shop=# out"),
    ("duckdb", "D SELECT depot FROM Parcel;", "D ", "leave D out"),
    ("spark", ">>> SELECT depot FROM Parcel", ">>>", "leave >>> out"),
    ("spark", "df = spark.sql(\"\"\"\nSELECT depot FROM Parcel\n\"\"\")", "df = ", "the SQL stands alone"),
    ("duckdb", "query = \"SELECT depot FROM Parcel\"", "query = ", "the SQL stands alone"),
    ("spark", "SQL: SELECT depot FROM Parcel", "SQL:", "leave SQL: out"),
    ("spark", "1  SELECT depot\n2  FROM Parcel", "1", "leave them out"),
    ("spark duckdb postgres", "Parcel | where kg > 3 | summarize count() by depot", "|", "SELECT … FROM Parcel"),
    ("spark postgres", "Parcel.groupby('depot').sum()", ".", "SELECT … FROM Parcel"),
    ("spark", "%%sql\nSELECT depot FROM Parcel", "%%sql", "leave %%sql out"),
    ("spark duckdb", "SELECT depot FROM Parcel;\nGO", "GO", "leave GO out"),
    ("spark", "SELECT depot FROM Parcel\n/", "/", "leave / out"),
    ("postgres", "SELECT depot FROM Parcel \\g", "\\g", "leave \\g out"),
    # Clauses and calls of other systems.
    ("spark", "SELECT TOP 5 PERCENT depot FROM Parcel ORDER BY kg", "5", "< 5 / 100.0"),
    ("spark postgres", "SELECT depot FROM Parcel LIMIT 10%", "10%", "a number of rows"),
    ("spark", "SELECT depot FROM Parcel PREWHERE ok WHERE kg > 3", "ok", "AND in the place of the second"),
    ("spark", "SELECT depot FROM Parcel WITH (NOLOCK) WHERE kg > 3", "WITH (", "leave it out"),
    ("spark", "SELECT depot FROM Parcel FORMAT JSONEachRow", "JSONEachRow", "leave it out"),
    ("spark", "SELECT MAX(kg) AS max kg FROM Parcel", "kg", "AS max_kg"),
    ("spark", "FROM STREAM Parcel SELECT depot", "STREAM", "leave STREAM out: FROM Parcel"),
    ("duckdb", "SELECT DECODE(id, 1, 'a', 'b') FROM Parcel", "1", "CASE x WHEN 1"),
    ("postgres", "SELECT string_to_array(depot) FROM Parcel", "string_to_array", "string_to_array(depot, ',')"),
    ("spark", "SELECT dcount(depot) FROM Parcel", "dcount", "COUNT(DISTINCT x)"),
    ("spark", "SELECT depot FROM Parcel WHERE depot.isin(['A'])", "depot.isin", "depot IN ('A')"),
    ("duckdb", "SELECT FORMAT(kg, 'N2') FROM Parcel", "FORMAT", "the format stands first"),
    ("postgres", "SELECT DATEADD(day, 7, due) FROM Parcel", "DATEADD", "t + INTERVAL '1' DAY"),
    ("postgres spark", "SELECT CONVERT(VARCHAR(10), sent, 120) FROM Parcel", "", "CAST(sent AS VARCHAR)"),
    ("duckdb", "SELECT TRUNC(due, 'MM') FROM Parcel", "TRUNC", "DATE_TRUNC('month', x)"),
    ("spark", "SELECT PARSE_DATE('%Y-%m-%d', depot) FROM Parcel", "PARSE_DATE", "TO_DATE(s, 'yyyy-MM-dd')"),
    ("spark", "SELECT f.value FROM Parcel, LATERAL FLATTEN(input => tags) f", "FLATTEN", "LATERAL VIEW EXPLODE(xs)"),
    ("duckdb postgres", "SELECT f.value FROM Parcel, LATERAL FLATTEN(input => tags) f", "FLATTEN", "UNNEST(xs)"),
    ("duckdb postgres", "SELECT tags FROM Parcel ARRAY JOIN tags AS c", "ARRAY", "UNNEST(tags)"),
    ("spark", "SELECT tags FROM Parcel ARRAY JOIN tags AS c", "tags AS c", "LATERAL VIEW EXPLODE(tags)"),
    ("duckdb postgres", "SELECT depot FROM Parcel WHERE sent > ago(7d)", "", "INTERVAL '7' DAY"),
    ("spark duckdb", "SELECT depot FROM Parcel WHERE due = DATE '2026-06-31'", "", "has the days 1 to 30"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE kg >> 8", "kg >> 8", "write > for greater than"),
    ("spark", "SELECT INTERVAL 2 FORTNIGHT + due FROM Parcel", "INTERVAL", "units are "),
    ("spark duckdb postgres", "SELECT p.kg FROM Parcel p, Depot d ON p.depot = d.depot", "ON", "write JOIN in"),
    ("postgres spark", "DECLARE @d DATE = '2026-08-01'; SELECT kg FROM Parcel WHERE due > @d", "DECLARE", ":name"),
    ("spark", "SELECT depot, COUNT(*) AS n FROM Parcel GROUP BY depot HAVING n > 3 AND", "AND", "go on after AND"),
    ("spark", "SELECT kg FROM Parcel WHERE depot IN NULL", "", "write depot IS NULL"),
    ("postgres", "SELECT kg FROM Parcel WHERE 'a' IN tags", "", "'a' = ANY (tags)"),
    ("postgres", "SELECT kg::float64 FROM Parcel", "float64", "DOUBLE PRECISION"),
    ("duckdb", "SELECT CAST(kg AS money) FROM Parcel", "", "DECIMAL(15, 2)"),
    ("spark duckdb postgres", "SELECT tags.length FROM Parcel", "tags.length", "CARDINALITY(tags)"),
    ("spark duckdb", "SELECT tags CONTAINS 'a' FROM Parcel", "'a'", "CONTAINS(tags, 'a')"),
    ("spark", "SELECT tags:size FROM Parcel", "tags", "x.a is a field of a struct"),
    ("postgres", "SELECT kg FROM Parcel WHERE ok = 1", "ok = 1", "a BOOLEAN is a condition itself"),
    ("spark", "SELECT kg FROM Parcel WHERE kg IS OVER 5", "5", "write > for more"),
    # The places of aggregates.
    ("spark postgres", "SELECT depot FROM Parcel WHERE kg = MAX(kg)", "MAX(kg)", "(SELECT MAX(kg) FROM Parcel)"),
    ("duckdb postgres", "SELECT depot, AVG(kg) FROM Parcel GROUP BY depot HAVING kg > 3", "kg > 3", "write AVG(kg)"),
    ("spark", "SELECT id, RANK() OVER (ORDER BY kg) AS r FROM Parcel WHERE r = 1", "r = 1", "from WHERE to QUALIFY"),
    ("spark duckdb", "SELECT id FROM Parcel WHERE sent > '2026-03-05 24:30'", "", "there is no time 24:30"),
    # Frames.
    ("spark", "SELECT SUM(kg) OVER (ORDER BY depot RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) FROM Parcel",
     "3", "ROWS"),
    ("spark", "SELECT SUM(kg) OVER (ORDER BY sent RANGE BETWEEN '1 day' PRECEDING AND CURRENT ROW) FROM Parcel",
     "'1 day'", "INTERVAL '1' DAY"),
    ("postgres", "SELECT SUM(kg) OVER (RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) FROM Parcel",
     "", "ORDER BY"),
    ("spark duckdb postgres", "SELECT SUM(kg) OVER (ORDER BY sent ROWS LAST 7) FROM Parcel", "7)", "ROWS 7 PRECEDING"),
    ("spark duckdb postgres", "SELECT SUM(kg) OVER (ORDER BY sent LAST 7 ROWS) FROM Parcel", "LAST", "ROWS BETWEEN"),
    ("spark duckdb", "SELECT SUM(kg) OVER (ORDER BY sent ROWS BETWEEN 7 AND CURRENT ROW) FROM Parcel", "7 AND",
     "BETWEEN 7 PRECEDING"),
    ("duckdb", "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY kg) OVER (PARTITION BY depot) FROM Parcel",
     "PERCENTILE", "QUANTILE_CONT(kg, 0.9) OVER"),
    ("postgres", "SELECT MODE() WITHIN GROUP (ORDER BY kg) OVER () FROM Parcel", "MODE", "GROUP BY in a query of WITH"),
    ("spark postgres", "SELECT AVG(kg) OVER (PARTITION BY depot, ORDER BY sent) FROM Parcel", ",", "leave the comma"),
    # Slips of all kinds.
    ("duckdb", "SELECT QUANTILE(kg, 0.95, 0.99) FROM Parcel", "0.99", "QUANTILE(x, [0.5, 0.9])"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel INTERSECT ALL BY NAME SELECT depot FROM Depot", "BY",
     "leave BY NAME out"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel ORDER BY kg NULLS", "NULLS", "NULLS FIRST or NULLS LAST"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE depot ~= 'x'", "~", "write <>"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE depot =~ 'x'", "=", "write <>"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE (depot = /home/x)", "", "'/home/x'"),
    ("spark duckdb postgres", "SELECT depot kg id FROM Parcel", "id", "comma missing before id"),
    ("postgres duckdb", "SELECT depot FROM Parcel MINUS SELECT depot FROM Depot", "SELECT", "write EXCEPT"),
    ("spark", "SELECT df['depot'] FROM Parcel", "df", "its name alone: depot"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE kg <> None", "None", "IS NOT NULL"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE kg > 5 AND < 10", "<", "AND kg < …"),
    ("spark duckdb postgres", "SELECT COUNT DISTINCT(depot) FROM Parcel", "DISTINCT", "COUNT(DISTINCT depot)"),
    ("spark duckdb postgres", "SELECT kg AS weight in kg FROM Parcel", "in", "AS weight_in_kg"),
    ("duckdb", "SELECT SUBSTRING(depot FROM 1, 3) FROM Parcel", "", "SUBSTRING(depot FROM 1 FOR 3)"),
    ("duckdb postgres", "SELECT id, LATERAL VIEW EXPLODE(tags) FROM Parcel", "FROM", "behind the table of FROM"),
    ("duckdb postgres", "SELECT depot, AVG(kg) FROM Parcel GROUP BY depot SORT BY depot", "SORT", "ORDER BY"),
    ("spark duckdb", "FROM Parcel WHERE kg > 5 SELECT depot", "SELECT", "SELECT stands first"),
    ("spark duckdb", "SELECT depot, COUNT(*) FROM Parcel WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY depot", "TUMBLING",
     "TUMBLE(t, INTERVAL"),
    ("spark", "SELECT DATE_TRUNC('dya', sent) FROM Parcel", "", "did you mean DAY"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE UPPER(depot) IN (A, B)", "A,", "write 'A'"),
    ("spark", "SELECT depot FROM Parcel WHERE kg > 100ms", "100ms", "no unit: 100"),
    ("spark postgres", "SELECT depot, COUNT(*) AS n FROM Parcel WHERE n > 3 GROUP BY depot", "n >", "goes into HAVING"),
    ("spark duckdb", "SELECT depot FROM Parcel WHERE due IN ('2026-04-01'..'2026-04-03')", ".", "BETWEEN 1 AND 2"),
    ("spark", "SELECT depot FROM Parcel WHERE depot = ('a', 'b')", "'a'", "x IN (1, 2)"),
    ("spark postgres", "SELECT depot FROM Parcel // all", "/", "a comment begins with --"),
    ("duckdb postgres", "COPY Parcel TO 'x.csv'", "COPY", "%argus sink"),
    ("spark duckdb", "SELECT COUNT(*) FROM Parcel GROUP BY tumble(sent)", "tumble", "tumble(t, INTERVAL '1' HOUR)"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel WHERE kg GREATER THAN 3", "GREATER", "write > for more"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel WHERE depot MATCHES '^a'", "MATCHES", "REGEXP_LIKE(depot"),
    ("spark duckdb postgres", "SELECT depot, kg / SUM(kg) FROM Parcel", "depot", "SUM(kg) OVER () stands beside"),
    ("duckdb postgres", "SELECT id FROM Parcel CROSS JOIN UNNEST tags AS t(tag)", "AS", "missing: UNNEST(tags)"),
    ("spark duckdb postgres", "SELECT MAX(kg) OVER w FROM Parcel WINDOW w AS PARTITION BY depot", "PARTITION",
     "missing: AS (PARTITION BY depot)"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE kg > 1e", "1e", "as in 1e6"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE depot === 'x'", "=", "write = for equal"),
    ("duckdb postgres", "SELECT depot FROM Parcel WHERE kg !> 3", "!", "write <="),
    ("duckdb", "SELECT depot FROM Parcel WHERE kg > 3 && ok", "3", "AND between conditions"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE depot STARTSWITH 'a'", "STARTS", "STARTSWITH(depot"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE LIKE 'a%'", "LIKE", "as in WHERE x LIKE"),
    ("spark postgres", "SELECT depot[1] FROM Parcel", "depot", "SUBSTRING(s, 1, 3)"),
    ("spark duckdb postgres", "SELECT POWER(kg) FROM Parcel", "POWER", "power("),
    ("spark", "SELECT kg ^ 2 FROM Parcel", "kg", "POWER(x, y)"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE sent > YESTERDAY", "YES", "CURRENT_DATE - INTERVAL"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE sent > '1 hour ago'", "sent", "NOW() - INTERVAL '1'"),
    ("duckdb", "SELECT DATE_DIFF(sent, sent, 'day') FROM Parcel", "'day'", "DATE_DIFF('day', sent, sent)"),
    ("postgres", "SELECT DATE_DIFF('day', sent, due) FROM Parcel", "DATE_DIFF", "CAST(due AS DATE) - CAST(sent AS"),
    ("spark duckdb postgres", "SELECT kg > 5 ? 'a' : 'b' FROM Parcel", "", "CASE WHEN"),
    ("spark duckdb postgres", "SELECT 'a' IF kg > 5 ELSE 'b' FROM Parcel", "", "CASE WHEN"),
    ("spark duckdb postgres", "SELECT depot AVG(kg) FROM Parcel GROUP BY depot", "(", "comma missing before AVG"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel ORDER BY kg DESC depot ASC", "depot", "comma missing"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel GROUP BY ROLLUP depot", "depot", "missing: ROLLUP"),
    ("duckdb", "SELECT * FROM Parcel p JOIN (SELECT id FROM Parcel) ON p.id = id", "id", "a name one"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE EXISTS (Depot)", "Depot", "EXISTS (SELECT 1 FROM Depot"),
    ("spark postgres", "SELECT {kg} FROM Parcel", "kg", "leave them out"),
    ("spark duckdb postgres", "DROP TABLE Parcel", "DROP", "%argus drop NAME"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel ORDER BY kg LIMIT 5 DESC", "DESC", "DESC before LIMIT"),
    ("spark duckdb postgres", "SELECT LAG(kg OVER (ORDER BY sent)) FROM Parcel", "OVER", "LAG(kg) OVER"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel WHERE id NOT IN SELECT id FROM Depot", "SELECT", "missing: IN ("),
    ("spark duckdb postgres", "SELECT kg FROM Parcel WHERE NOT EXIST (SELECT 1 FROM Depot)", "EXIST", "exists?"),
    ("spark duckdb", "SELECT DATE(sent) AS d, COUNT(*) FROM Parcel GROUP BY depot", "sent", "to GROUP BY"),
    ("duckdb postgres", "SELECT depot FROM Parcel WHERE ok = 'maybe'", "", "condition itself"),
)  # fmt: skip
REPAIRED = (
    # The text, its place, the text that the hint names, and the text with it.
    ("spark duckdb postgres", "SELECT id FROM Parcel WHERE kg IS > 3", "IS", "leave IS out",
     "SELECT id FROM Parcel WHERE kg > 3"),
    ("spark duckdb postgres", "SELECT id FROM Parcel WHERE kg =! 3", "=!", "<>", "SELECT id FROM Parcel WHERE kg <> 3"),
    ("spark duckdb postgres", "SELECT id FROM Parcel WHERE depot = 0007", "depot", "'0007'",
     "SELECT id FROM Parcel WHERE depot = '0007'"),
    ("spark duckdb postgres", "SELECT IF kg > 3 THEN 'a' ELSE 'b' END FROM Parcel", ">", "CASE WHEN",
     "SELECT CASE WHEN kg > 3 THEN 'a' ELSE 'b' END FROM Parcel"),
    ("spark duckdb postgres", "SELECT id FROM {{ ref('Parcel') }}", "", "Parcel", "SELECT id FROM Parcel"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel JOIN Depot ON depot", "depot", "USING (depot)",
     "SELECT kg FROM Parcel JOIN Depot USING (depot)"),
    ("spark duckdb postgres", "SELECT Parcel['kg'] FROM Parcel", "Parcel", "kg", "SELECT kg FROM Parcel"),
    ("spark duckdb postgres", "SELECT SUM(kg WHERE ok) FROM Parcel", "WHERE", "SUM(kg) FILTER (WHERE ok)",
     "SELECT SUM(kg) FILTER (WHERE ok) FROM Parcel"),
    ("spark duckdb", "SELECT depot, MAX(kg) AT due FROM Parcel GROUP BY depot", "due", "MAX_BY(due, kg)",
     "SELECT depot, MAX_BY(due, kg) FROM Parcel GROUP BY depot"),
    ("postgres", "SELECT depot, MAX(kg) AT due FROM Parcel GROUP BY depot", "due",
     "(ARRAY_AGG(due ORDER BY kg DESC))[1]",
     "SELECT depot, (ARRAY_AGG(due ORDER BY kg DESC))[1] FROM Parcel GROUP BY depot"),
    ("spark duckdb postgres", "SELECT sent::dat FROM Parcel", "dat", "DATE", "SELECT sent::DATE FROM Parcel"),
    ("duckdb postgres", "SELECT kg::doubl FROM Parcel", "doubl", "DOUBLE PRECISION",
     "SELECT kg::DOUBLE PRECISION FROM Parcel"),
    ("spark duckdb postgres", "SELECT COUNT(*) OVER (ORDER BY sent RANGE 2 HOURS PRECEDING) FROM Parcel", "2",
     "RANGE INTERVAL '2' HOUR PRECEDING",
     "SELECT COUNT(*) OVER (ORDER BY sent RANGE INTERVAL '2' HOUR PRECEDING) FROM Parcel"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel WHERE kg = NaN", "NaN", "CAST('NaN' AS DOUBLE PRECISION)",
     "SELECT kg FROM Parcel WHERE kg = CAST('NaN' AS DOUBLE PRECISION)"),
    ("spark duckdb", "SELECT depot, SUM(kg) AS s FROM Parcel GROUP BY depot, s", "SUM", "leave it out of GROUP BY",
     "SELECT depot, SUM(kg) AS s FROM Parcel GROUP BY depot"),
    ("spark duckdb", "SELECT depot, SUM(kg) FROM Parcel GROUP BY ALL EMIT CHANGES", "EMIT", "leave it out",
     "SELECT depot, SUM(kg) FROM Parcel GROUP BY ALL"),
    ("spark duckdb postgres", "SELECT LAG(kg) FROM Parcel ORDER BY id", "LAG", "LAG(…) OVER (ORDER BY",
     "SELECT LAG(kg) OVER (ORDER BY id) FROM Parcel"),
    ("postgres", "SELECT DATEDIFF(hour, sent, due) FROM Parcel", "DATEDIFF", "EXTRACT(EPOCH FROM due - sent) / 3600",
     "SELECT EXTRACT(EPOCH FROM due - sent) / 3600 FROM Parcel"),
    ("postgres", "SELECT TIMESTAMPDIFF(day, sent, due) FROM Parcel", "TIMESTAMPDIFF",
     "CAST(due AS DATE) - CAST(sent AS DATE)", "SELECT CAST(due AS DATE) - CAST(sent AS DATE) FROM Parcel"),
    ("spark duckdb postgres", "SELECT sent.dt.year FROM Parcel", "sent.dt", "EXTRACT(YEAR FROM sent)",
     "SELECT EXTRACT(YEAR FROM sent) FROM Parcel"),
    *(("spark duckdb postgres", f"SELECT {wrong} FROM Parcel", wrong, right, f"SELECT {right} FROM Parcel")
      for wrong, right in {
          "kg.isnull()": "kg IS NULL", "depot.notna()": "depot IS NOT NULL", "kg.between(1, 2)": "kg BETWEEN 1 AND 2",
          "depot.isin(['a', 'b'])": "depot IN ('a', 'b')", "depot.str.endswith('a')": "depot LIKE '%a'",
          "kg.mean()": "AVG(kg)", "depot.nunique()": "COUNT(DISTINCT depot)", "kg.astype(int)": "CAST(kg AS BIGINT)",
          "kg.fillna(0)": "COALESCE(kg, 0)", "depot.str.len()": "LENGTH(depot)", "sent.date()": "CAST(sent AS DATE)",
          "kg.rank()": "RANK() OVER (ORDER BY kg)", "np.sqrt(kg)": "SQRT(kg)", "kg.std()": "STDDEV(kg)",
      }.items()),
)  # fmt: skip
WARNED = (
    ("duckdb", "SELECT STRFTIME(sent, 'yyyy-MM') FROM Parcel", "has no %"),
    ("duckdb", "SELECT STRPTIME(depot, 'dd/MM/yyyy') FROM Parcel", "has no %"),
    ("duckdb", "SELECT tags[0] FROM Parcel", "counted from 1"),
    ("postgres", "SELECT tags[0] FROM Parcel", "counted from 1"),
)
TAKEN = (
    ("postgres", "SELECT ~id AS bits, id FROM Parcel WHERE depot ~ 'a' AND (~id) > 3"),
    ("duckdb", "SELECT PERCENTILE_CONT([0.25, 0.9]) WITHIN GROUP (ORDER BY kg DESC) FROM Parcel"),
    ("duckdb spark postgres", "(SELECT depot FROM Parcel ORDER BY kg LIMIT 3) UNION SELECT depot FROM Depot"),
    ("duckdb spark postgres", "SELECT id FROM Parcel UNION SELECT cap FROM Depot ORDER BY id LIMIT 3"),
    ("spark", "SELECT tags[0] FROM Parcel"),
    ("duckdb", "SELECT [depot] AS one FROM Parcel"),
    ("duckdb", "SELECT * REPLACE (ROUND(kg) AS kg) FROM Parcel"),
    ("duckdb", "SELECT STRFTIME(sent, '%Y') FROM Parcel"),
    ("spark duckdb postgres", "SELECT kg AS now FROM Parcel ORDER BY now"),
    ("spark duckdb postgres", "SELECT r FROM (SELECT id AS rownum, kg AS r FROM Parcel) q WHERE rownum <= 2"),
    ("spark duckdb postgres", "SELECT 1 FROM Parcel NATURAL JOIN Depot JOIN Depot o ON o.cap = Parcel.id"),
    ("spark duckdb", "SELECT kg, COUNT(*) AS n FROM Parcel GROUP BY ALL UNION ALL SELECT 1, 2"),
    ("spark duckdb postgres", "SELECT kg FROM Parcel WHERE sent > NOW() - INTERVAL '1' HOUR"),
    ("spark", "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY kg) OVER (PARTITION BY depot) FROM Parcel"),
    ("spark duckdb postgres", "SELECT depot FROM Parcel WHERE ok = 'yes' OR ok IN ('false', 'T')"),
    ("duckdb postgres", "SELECT DATE_TRUNC('days', sent), DATE_TRUNC('h', due), EXTRACT(mins FROM sent) FROM Parcel"),
    ("duckdb", "SELECT DATE_DIFF('d', sent, sent), sent + INTERVAL '2 w' FROM Parcel"),
    ("spark duckdb postgres", "SELECT interval - 1 AS x FROM (SELECT id AS interval FROM Parcel) q"),
    ("spark duckdb", "SELECT sent + INTERVAL -1 DAY FROM Parcel"),
    ("duckdb", "SELECT AVG(kg) OVER (PARTITION BY depot, ORDER BY sent) FROM Parcel"),
)


def each(cases: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """The cases, once for each of their dialects."""
    return [(dialect, *case[1:]) for case in cases for dialect in case[0].split()]


@pytest.mark.parametrize(("dialect", "sql", "place", "hint"), each(REFUSED))
def test_what_is_refused(dialect: str, sql: str, place: str, hint: str) -> None:
    with pytest.raises(SqlError) as told:
        bind(sql, dialect, SCHEMA)
    error = told.value
    assert error.position is not None and sql[error.position :].startswith(place), str(error)
    assert hint in str(error.hint), str(error)


@pytest.mark.parametrize(("dialect", "sql", "place", "named", "meant"), each(REPAIRED))
def test_what_a_hint_names_is_taken(dialect: str, sql: str, place: str, named: str, meant: str) -> None:
    test_what_is_refused(dialect, sql, place, named)
    bind(meant, dialect, SCHEMA)


@pytest.mark.parametrize(("dialect", "sql", "message"), each(WARNED))
def test_what_is_taken_with_a_warning(dialect: str, sql: str, message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        bind(sql, dialect, SCHEMA)


@pytest.mark.parametrize(("dialect", "sql"), each(TAKEN))
def test_what_is_taken(dialect: str, sql: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind(sql, dialect, SCHEMA)
