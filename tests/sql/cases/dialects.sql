# Expressions of a dialect, which is the title, and what they mean here.

# title: postgres
array_to_string(null::int[], ',');
null::string;

s->'a'->0->1->>'b c';
json_text(s, '$[''a''][00][1][''b c'']');

(s::jsonb #> '{a,1}') ->> 'b';
coalesce(json_text(s, '$[''a''][1][''b'']'), json_text(s, '$[''a''][''1''][''b'']'));

jsonb_extract_path_text(s::jsonb, 'a', 'b');
json_text(s, '$[''a''][''b'']');

(s->>'a')::jsonb->>'b';
json_text(json_text(s, '$[''a'']'), '$[''b'']');

jsonb_typeof(s->'a'->'b');
json_type(s, '$[''a''][''b'']');

jsonb_array_length((s->'a')::jsonb);
json_length(s, '$[''a'']');

s @> '[1.50]';
case(is_null(json_type(s, '$')), null::boolean, and(coalesce((json_type(s, '$') = 'array'), false), json_has_element(s, '$', '1.50')));

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

log(x);
log10(x);

concat(s, a, 'x');
((coalesce(s, '') || coalesce(cast(a as string), '')) || coalesce('x', ''));

greatest(a, b);
greatest(a, b);

trim(s);
trim(s);

extract(dow from d);
cast((dayofweek(d) - 1) as decimal(10,0));

extract(week from d);
cast(week(d) as decimal(10,0));

date_trunc('week', ts);
trunc_timestamp(ts, 'WEEK');

cast(m as int);
cast(round(m) as integer(32));

x::bigint;
cast(rint(x) as integer);

s collate "C" < 'b';
(s < 'b');

(a, s) = (1, 'x');
and((a = 1), (s = 'x'));

(a, b) <> (b, 2);
not(and((a = b), (b = 2)));

(a, s) in ((1, 'x'), (2, s));
or(and((a = 1), (s = 'x')), and((a = 2), (s = s)));

a in (values (1), (2));
in(a, 1, 2);

a between symmetric 5 and b;
or(and((a >= 5), (a <= b)), and((a >= b), (a <= 5)));

a # b;
bit_xor_of(a, b);

split_part(s, '-', 2);
split_part(s, '-', 2);

ts + interval '1 day -2 hours 30 minutes';
add_seconds(add_seconds(ts, 86400), -5400);

d - interval '1 year 2 months 3 days';
cast((add_months(d, -14) + -3) as timestamp);

d + interval '1 day 2 hours';
add_seconds(cast((d + 1) as timestamp), 7200);

d + interval '1 day' > d;
((d + 1) > d);

d + interval '1 day' > ts;
(cast((d + 1) as timestamp) > ts);

d + interval '1 month' - d > interval '30 days';
(cast(add_months(d, 1) as timestamp) > add_seconds(cast(d as timestamp), 2592000));

ts - interval '-01:30:10';
add_seconds(ts, 5410);

ts + interval '1 day 01:30:10';
add_seconds(add_seconds(ts, 86400), 5410);

ts + '2 weeks'::interval;
add_seconds(ts, 1209600);

'1 hour 30 minutes'::interval;
interval_of_micros(5400000000);

# title: duckdb
cast(sum(a) as bigint);
cast(sum_a_5e96e140 as integer);

s->'a.b'->'c'->>'$.d[1]';
json_text_in_duckdb(s, '$[''a.b''][''c''][''d''][1]');

(s->'a')->>0;
json_text_in_duckdb(s, '$[''a''][0]');

a / b;
(cast(a as double) /_ieee cast(b as double));

s || a;
(s || cast(a as string));

substr(s, 2, 0);
substr(s, 2, 0);

s < 'b';
(s < 'b');

date_diff('day', d, d + 1);
((d + 1) - d);

concat(s, a);
(coalesce(s, '') || coalesce(cast(a as string), ''));

try_cast(m as bigint);
cast(round(m) as integer);

# title: trino
cast(b + cast(a as decimal(20,0)) as bigint);
cast((b + cast(a as decimal(20,0))) as integer);

cast(upper(s) as varchar);
upper(s);

concat(s, 'x');
(s || 'x');

(a, b) = (1, 2);
and((a = 1), (b = 2));

trim(both ' ' from s);
trim(s, ' ');

timestamp '2002-01-01 00:00:00.25';
timestamp '2002-01-01 00:00:00.250000';

# title: bigquery
date_add(d, interval 3 day);
(d + 3);

# title: spark
d + interval '1 month';
add_months(d, 1);

cast(d as timestamp) = cast(d + 1 as timestamp);
(d = (d + 1));

cast(d as timestamp) < ts;
(cast(d as timestamp) < ts);

ts + interval '1 day 2 hours';
add_seconds(add_seconds(ts, 86400), 7200);

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
