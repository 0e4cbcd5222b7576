# The message and, under the marked line, carets; the title is the dialect.
# title: spark
select a from T sort by a;
SORT BY is not supported
select a from T sort by a
                ^^^^^^^;

select a from T order by 2;
ORDER BY 2 is not a position in the select list
select a from T order by 2
                         ^;

select distinct a from T order by b;
SELECT DISTINCT is ordered by b, which it does not select
select distinct a from T order by b
                                  ^;

select T.a from T left join U on T.a = U.k and exists (select 1 from U v where v.k = T.b and v.k < U.k);
a subquery in ON of a LEFT JOIN that reads both sides is not supported
select T.a from T left join U on T.a = U.k and exists (select 1 from U v where v.k = T.b and v.k < U.k)
                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

select a from T limit a;
LIMIT takes a number of rows, 0 or more
select a from T limit a
                      ^;

select a from T fetch first 3 rows with ties;
WITH TIES needs ORDER BY
select a from T fetch first 3 rows with ties
                            ^;

select a from T where rank() over (order by a) = 1;
OVER there is not supported
select a from T where rank() over (order by a) = 1
                      ^^^^^^^^^^^^^^^^^^^^^^^^;

select sum(a) over w from T;
unknown window w
select sum(a) over w from T
                   ^;

select count(distinct a) over (order by b rows 2 preceding) from T;
DISTINCT over such a frame is not supported
select count(distinct a) over (order by b rows 2 preceding) from T
       ^^^^^^^^^^^^^^^^^;

select a from T qualify a > 1;
QUALIFY without OVER
select a from T qualify a > 1
                        ^^^^^;

select a from T where a = (select k, a from U);
a subquery that is a value has one column, not 2
select a from T where a = (select k, a from U)
                                  ^^^^^^^^^^^;


select a, rand() from T;
RAND is not supported
select a, rand() from T
          ^^^^;

select a from T tablesample (10 percent);
TABLESAMPLE is not supported
select a from T tablesample (10 percent)
                ^^^^^^^^^^^;

select a from T for update;
FOR UPDATE is not supported
select a from T for update
                ^^^^^^^^^^;

select a from T lateral view explode(split(s, ',', 10001)) e as z;
rows of more than 10,000 elements is not supported
select a from T lateral view explode(split(s, ',', 10001)) e as z
                                     ^^^^^^^^^^^^^^^^^^^^;

select a from T lateral view explode(s) e as z;
an array is needed, not string
select a from T lateral view explode(s) e as z
                                     ^;

with recursive r as (select a from r) select a from r;
r in its own query there is not supported
with recursive r as (select a from r) select a from r
                                   ^;

select distinct on (zz) a from T;
unknown column zz
select distinct on (zz) a from T
                    ^^;

insert into T select a from U;
INSERT is not supported
insert into T select a from U
^^^^^^;

select amuont from (select a as amount from T) q;
unknown column amuont
select amuont from (select a as amount from T) q
       ^^^^^^;

select a from T, U;
ambiguous column a
select a from T, U
       ^;

select T.z from T;
unknown column T.z
select T.z from T
         ^;

select q.a from T;
q is not in FROM
select q.a from T
       ^;

select a from Tt;
unknown stream Tt
select a from Tt
              ^^;

select foo(a) from T;
unknown function foo
select foo(a) from T
       ^^^^^^;

select a from T where a = '1.5';
type clash: integer cannot be compared with string
select a from T where a = '1.5'
                      ^^^^^^^^^;

select a from T where d > 5;
type clash: date cannot be compared with integer
select a from T where d > 5
                      ^^^^^;

select a from T where d > '2002-13-01';
'2002-13-01' is not a date
select a from T where d > '2002-13-01'
                      ^^^^^^^^^^^^^^^^;

select a from T where a;
type clash: a condition is needed, not integer
select a from T where a
                      ^;

select a, b + 1 from T group by a;
column b is neither in GROUP BY nor in an aggregate
select a, b + 1 from T group by a
          ^;

select a from T where sum(a) > 1;
SUM is an aggregate, which cannot stand here
select a from T where sum(a) > 1
                      ^^^^^^;

select sum(max(a)) from T;
an aggregate cannot stand inside another
select sum(max(a)) from T
           ^^^^^^;

select a from T union select a, k from U;
UNION of queries with 1 and 2 columns
select a from T union select a, k from U
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

select a from T union select s from U;
UNION, column a: type clash: integer and string have no common type
select a from T union select s from U
                             ^;

select a fro T where a = 1 x;
syntax error: unexpected fro
select a fro T where a = 1 x
         ^^^;

select a from T where s = 'x;
syntax error: a quote or comment is not closed
select a from T where s = 'x
                          ^;

select a from T where s like b;
a pattern that is not a constant string is not supported
select a from T where s like b
                             ^;

select a from T where a is true;
type clash: a condition is needed, not integer
select a from T where a is true
                      ^;

with q as (select a from T), q as (select b from T) select * from q;
q stands twice in WITH
with q as (select a from T), q as (select b from T) select * from q
                             ^^^^^^^^^^^^^^^^^^^^^^;

select a from T where s like any (select s from T);
LIKE ANY or LIKE ALL of a subquery is not supported
select a from T where s like any (select s from T)
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

select percentile(a, 0.5, b) from T;
PERCENTILE takes at most 2 arguments
select percentile(a, 0.5, b) from T
                          ^;

select percentile(a, 0.5, 2) from T;
PERCENTILE takes at most 2 arguments
select percentile(a, 0.5, 2) from T
                          ^;

select transform(array(a), v -> v + 1, true) from T;
TRANSFORM takes at most 2 arguments
select transform(array(a), v -> v + 1, true) from T
                                       ^^^^;

select listagg(s, ',', b) within group (order by a) from T;
LISTAGG takes at most 2 arguments
select listagg(s, ',', b) within group (order by a) from T
                       ^;

select ts + interval '1.5 hours' from T;
an interval of a fraction is not supported
select ts + interval '1.5 hours' from T
            ^^^^^^^^;

select named_struct('a', b, 'c') from T;
NAMED_STRUCT takes constant names and values by turns
select named_struct('a', b, 'c') from T
                            ^^^;

select named_struct(s, a) from T;
NAMED_STRUCT takes constant names and values by turns
select named_struct(s, a) from T
                    ^;

select age(ts, ts) from T;
AGE is not supported
select age(ts, ts) from T
       ^^^^^^^^^^^;

select explode(generate_series(1, 3)) from T;
GENERATE_SERIES in spark is not supported
select explode(generate_series(1, 3)) from T
               ^^^^^^^^^^^^^^^^^^^^^;

select x div 2 from T;
integer division needs exact numbers
select x div 2 from T
       ^^^^^^^;

select inline(array(a)) from T;
INLINE needs an array of structs, not array<integer>
select inline(array(a)) from T
       ^^^^^^^^^^^^^^^^;

select z.* from T;
z is not in FROM
select z.* from T
       ^;

select to_json(a) from T;
a struct, an array or a map is needed, not integer
select to_json(a) from T
       ^^^^^^^^^^;

select rank(b) over (order by a) from T;
RANK takes no arguments
select rank(b) over (order by a) from T
            ^;

select percentile_cont(0.5, b) within group (order by a) from T;
this argument of PERCENTILE WITHIN GROUP is not supported
select percentile_cont(0.5, b) within group (order by a) from T
                            ^;

select e(a) from T;
E takes no arguments
select e(a) from T
       ^^^^;

select collect_list(a, b) from T;
COLLECT_LIST takes at most 1 argument
select collect_list(a, b) from T
                       ^;

select locate('x', s, 1, b) from T;
LOCATE takes at most 3 arguments
select locate('x', s, 1, b) from T
                         ^;

select mod(a, b, c) from T;
MOD takes at most 2 arguments
select mod(a, b, c) from T
                 ^;

select upper(s, s) from T;
UPPER takes at most 1 argument
select upper(s, s) from T
                ^;

create view T as select a from U;
T is a stream
create view T as select a from U
            ^;

create or replace view v as select a from v;
the view v is made of itself
create or replace view v as select a from v
                                          ^;

create view if not exists v as select a from T;
IF NOT EXISTS is not supported
create view if not exists v as select a from T
            ^^^^^^^^^^^^^;

select a + 1 as a, count(*) from T group by a having a > 1;
a is a column and an alias here
select a + 1 as a, count(*) from T group by a having a > 1
                                                     ^;

select + from T;
nothing is selected
select + from T
              ^;

select a from T where x < 1e400;
the number is beyond those of DOUBLE
select a from T where x < 1e400
                          ^^^^^;

select a from T where a in ();
IN needs a list
select a from T where a in ()
                      ^;

select db.T.a from T;
a column name of three parts is not supported
select db.T.a from T
       ^^;

select a from T where ts > timestamp '2002-11-20 25:00';
'2002-11-20 25:00' is not a timestamp
select a from T where ts > timestamp '2002-11-20 25:00'
                                     ^^^^^^^^^^^^^^^^^^;

# title: oracle
select listagg(s, a) within group (order by s) from T;
a separator that is not a constant text is not supported
select listagg(s, a) within group (order by s) from T
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

select to_date(s, 'DD-MON-YYYY') from T;
the element MON of the date format DD-MON-YYYY is not supported
select to_date(s, 'DD-MON-YYYY') from T
                  ^^^^^^^^^^^^^;

select a from T where T.a = T.b(+);
an outer join by (+) is not supported
select a from T where T.a = T.b(+)
                               ^^^;

select sysdate from T;
SYSDATE outside of a condition is not supported
select sysdate from T
       ^^^^^^^;

select to_char(d, 'DAY') from T;
a date format with names of months or days is not supported
select to_char(d, 'DAY') from T
                  ^^^^^;

select a from T connect by prior a = b;
CONNECT BY is not supported
select a from T connect by prior a = b
                ^^^^^^^^^^;

# title: postgres
select T.a from T, U full join U v on U.k = v.k and T.a > 1;
a FULL JOIN whose left side or condition reads an item before a comma is not supported
select T.a from T, U full join U v on U.k = v.k and T.a > 1
                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

select json_object_agg(s) from T;
JSON_OBJECT_AGG is not supported
select json_object_agg(s) from T
       ^^^^^^^^^^^^^^^^^^;
