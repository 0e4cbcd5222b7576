# Conditions, and their canonical form.

# title: one input
2 * a > 10;
a > 5;

10 < a + a;
a > 5;

-a > 5;
a < -5;

5 - 2 * a >= a - 4;
a <= 3;

a > 2.5;
a > 2;

a < 2.5;
a < 3;

3 * a <= 10;
a < 4;

2 * a = 5;
false;

2 * a <> 5;
a is not null;

a + 1 > 9223372036854775807;
a > 9223372036854775806;

a - 1 > 9223372036854775807;
a > 9223372036854775808;

m * 0.1 > 5;
m > 50;

m / 4 = 0.25;
m = 1;

3 * m > 1000;
m > 333.33;

m + 0.005 <= 1;
m < 1;

CAST(a AS DECIMAL(20, 1)) + 0.5 > 3;
a > 2;

d + 3 > DATE '2020-01-10';
d > date '2020-01-07';

DATE '2020-01-10' - d < 3;
d > date '2020-01-07';

d - 1000000 > DATE '9999-12-31';
(d - date '1970-01-01') > 3932896;

d + 5000000000 > DATE '2020-01-10';
(d - date '1970-01-01') > -4999981729;

d + a > e;
(cast((d - e) as decimal(19,0)) + cast(a as decimal(19,0))) > 0;

a + b > 10;
(cast(a as decimal(19,0)) + cast(b as decimal(19,0))) > 10;

b - a < 0;
(cast(a as decimal(19,0)) - cast(b as decimal(19,0))) > 0;

a * 4 - 2 * b > 6;
((cast(a as decimal(19,0)) * 2) - cast(b as decimal(19,0))) > 3;

a - b = 0;
a = b;

b + 3 = a + 3;
a = b;

a - b = 7;
(cast(a as decimal(19,0)) - cast(b as decimal(19,0))) = 7;

m = a;
a = m;

a - a = 0;
a is not null;

a - a > 0;
false;

a * 0 = 0;
a is not null;

a > a;
false;

s >= s;
s is not null;

x <> x;
false;

1 + 1 = 2;
true;

1 = 2 OR a = 1;
a = 1;

'k' < 'l';
true;

a > NULL;
false;

w > 5;
w > 5;

w + 1 > 5;
(w + 1) > 5;

w > -w;
w > 0;

w * 10 > 5;
(w * 10) > 5;

CAST(m AS DECIMAL(30, 10)) * 0.0000012345 > 1;
(cast(m as decimal(30,10)) * 0.0000012345) > 1;

CAST(w AS DECIMAL(31, 0)) / 0.25 > 1;
cast(w as decimal(31,0)) > 0;

w / 0.25 > 1;
(w / 0.25) > 1;

CAST(a + b AS DECIMAL(19, 0)) > 5;
cast((a + b) as decimal(19,0)) > 5;

CAST(a + b AS DECIMAL(20, 0)) > 5;
(cast(a as decimal(19,0)) + cast(b as decimal(19,0))) > 5;

CAST(m AS DECIMAL(15, 0)) > 5;
cast(m as decimal(15,0)) > 5;

CAST(m AS DECIMAL(14, 2)) > 5;
cast(m as decimal(14,2)) > 5;

9223372036854775807 + 1 > 5 OR a = 1;
true;

9223372036854775807 + 1 < 5 OR a = 1;
a = 1;

a = 1 AND 9223372036854775807 + 1 < b - b;
false;

a NOT IN (1.5, 2);
a <> 2;

a IS NOT NULL AND a > 1;
a > 1;

a IS NOT NULL AND (a > 1 OR b = 1);
(a > 1 or b = 1) and a is not null;

s IS NOT NULL AND s = s AND s < 'k';
s < 'k';

a * b > 10;
(cast(a as decimal(19,0)) * cast(b as decimal(19,0))) > 10;

2 * (b * a) > 10;
(cast(a as decimal(19,0)) * cast(b as decimal(19,0))) > 5;

m * (1 - n) > 5;
((m * n) - m) < -5;

a * (b + c) > 10;
(10 - (cast(a as decimal(19,0)) * cast(c as decimal(19,0)))) < (cast(a as decimal(19,0)) * cast(b as decimal(19,0)));

a * (b + c + 1) > a;
(0 - (cast(a as decimal(19,0)) * cast(c as decimal(19,0)))) < (cast(a as decimal(19,0)) * cast(b as decimal(19,0)));

a * b * c > 10;
((a * b) * c) > 10;

a div 2 > 10;
a > 21;

a div 2 = 10;
div(a, 2) = 10;

a div -3 > 1;
a < -5;

a / 2 > 5;
a > 10;

a / 3 < 0.5;
a < 2;

a / 3 = 7;
a = 21;

a / 3 = 0.5;
false;

a / 7 = 9007199254740993;
(cast(a as double) / 7.0d) = 9007199254740992.0d;

10 - a / 4 >= 1;
a <= 36;

a / b > 2;
(cast(a as double) / cast(b as double)) > 2.0d;

a / 2 > b;
(cast(a as double) / 2.0d) > cast(b as double);

m / 3 > 1;
m > 3;

m / 3 = 0.333333;
m = 1;

x + 1 > 5;
x > 4.0d;

x * 0.5 >= 5;
x >= 10.0d;

3 - x > 5;
(3.0d - x) > 5.0d;

abs(a - b) < 5;
(cast(a as decimal(19,0)) - cast(b as decimal(19,0))) < 5 and (cast(a as decimal(19,0)) - cast(b as decimal(19,0))) > -5;

'k' < s;
s > 'k';

s || 'x' LIKE 'a%';
like((s || 'x'), 'a%');

ABS(b + a) > 3;
abs((a + b)) > 3;

b + a IS NULL;
(a + b) is null;

ts > TIMESTAMP '2020-01-01 10:00:00';
ts > timestamp '2020-01-01 10:00:00';

a + b - b > 3;
a > 3 and b is not null;

a + b - b > 3 OR c = 1;
(a > 3 or c = 1) and (b is not null or c = 1);

a * (c - c) <= a;
a >= 0 and c is not null;

# title: across inputs
r.a - F.a = 0;
1:a = a;

r.d = F.d + 3;
(d + 3) = 1:d;

F.d = r.d - 3;
(d + 3) = 1:d;

r.a + F.a = 10;
(10 - cast(a as decimal(19,0))) = 1:a;

2 * r.m = F.m + 1;
(1:m * 2) = (m + 1);

r.d <= F.d + 20;
(1:d - d) <= 20;

F.d + 20 >= r.d;
(1:d - d) <= 20;

r.d - 20 <= F.d;
(1:d - d) <= 20;

r.m > F.m * 0.5;
((1:m * 2) - m) > 0;

r.s = F.s;
1:s = s;

r.x > F.x;
1:x > x;
