# Expressions of a dialect, which is the title, and what they mean here.

# title: postgres
log(10, x);
log10(x);

a / b;
div(a, b);

round(m, 1);
round(m, 1);

a < b;
(a < b);

s is not null;
not(is_null(s));

# title: duckdb
a / b;
(cast(a as double) / cast(b as double));

s || a;
(s || cast(a as string));

substr(s, 2, 0);
substr(s, 2, 0);

s < 'b';
(s < 'b');

date_diff('day', d, d + 1);
((d + 1) - d);

# title: trino
trim(both ' ' from s);
trim(s, ' ');

timestamp '2002-01-01 00:00:00.25';
timestamp '2002-01-01 00:00:00.250000';

# title: bigquery
date_add(d, interval 3 day);
(d + 3);

# title: spark
greatest(a, b);
greatest(a, b);

date_trunc('month', d);
trunc_timestamp(cast(d as timestamp), 'MONTH');

trunc(cast(d as date), 'MM');
trunc_date(d, 'MONTH');

# title: databricks
log(x);
ln(x);

date_trunc('month', d);
trunc_timestamp(cast(d as timestamp), 'MONTH');

trunc(cast(d as date), 'MM');
trunc_date(d, 'MONTH');

# title: hive
trunc(d, 'MM');
trunc_date(d, 'MONTH');

date_trunc('month', d);
trunc_timestamp(cast(d as timestamp), 'MONTH');

trunc(cast(d as date), 'MM');
trunc_date(d, 'MONTH');

# title: spark2
date_trunc('month', d);
trunc_timestamp(cast(d as timestamp), 'MONTH');

trunc(cast(d as date), 'MM');
trunc_date(d, 'MONTH');

# title: oracle
nvl(s, '');
coalesce(s, null::string);

decode(s, '', 1);
case((s <=> null::string), 1, null::integer);

replace(s, 'x', '');
nullif(replace(s, 'x', ''), '');

replace(s, '', 'x');
s;

trim(s);
nullif(trim(s), '');

substr(s, 1, 2);
substr(s, 1, 2);

substr(s, 3);
nullif(substr(s, 3), '');

substr(s, -3);
nullif(case((length(s) < 3), null::string, substr(s, -3)), '');

mod(a, b);
case((b = 0), a, (a % b));

mod(a, 3);
(a % 3);

cast(x as integer);
cast(round(x) as integer);

to_date(s, 'YYYY-MM-DD HH24:MI');
to_timestamp(s, 'yyyy-MM-dd HH:mm');

to_date(s, 'YYYY-MM-DD');
to_date(s, 'yyyy-MM-dd');
