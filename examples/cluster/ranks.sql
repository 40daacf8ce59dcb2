-- SPDX-FileCopyrightText: gpuprof contributors
-- SPDX-License-Identifier: Apache-2.0

-- Questions about all ranks of a job, over a data set of `gpuprof export -f parquet`. DuckDB and Spark run the same text:
-- ranks.py makes the views `steps` and `kernels` of the data set, and runs the parts in this order. A `table` is kept, so files
-- are read once. All that follows is sums over it: rows by rank become rows by round, of which a job has few.
--
-- Clocks of hosts differ. So no time of one host is compared with a time of another one: a collective ends at one moment
-- for all its ranks, and each rank's own times are taken from that moment.
--
-- The figures are those of `gpuprof stats stragglers`.

-- table: collectives
-- The collectives of each rank, by their order in the step.
select job, rank, step, start_ns, end_ns,
       row_number() over (partition by job, rank, step order by start_ns, end_ns) as number,
       lag(end_ns) over (partition by job, rank, step order by start_ns, end_ns) as before_ns
from kernels where step is not null and (name like '%nccl%' or name like '%rccl%') and name not like '%Send%' and name not like '%Recv%';

-- table: marks
-- The steps of each rank, with the begin of the next one.
select s.*, lead(start_ns) over (partition by job, rank order by start_ns) as next_ns
from (select job, rank, step, min(start_ns) as start_ns, max(end_ns) as end_ns, max(case when warmup then 1 else 0 end) as warmup
      from steps group by job, rank, step) s;

-- table: spans
-- The same, each until the next one begins. A pause that is far longer than most belongs to no step.
select m.job, m.rank, m.step, m.start_ns, m.warmup,
       case when m.next_ns - m.end_ns <= 2 * greatest(u.pause_ns, 0) + u.length_ns / 2 then m.next_ns else m.end_ns end as end_ns
from marks m join (select job, rank, median(next_ns - end_ns) as pause_ns, median(end_ns - start_ns) as length_ns from marks group by job, rank) u
     on u.job = m.job and u.rank = m.rank;

-- table: shapes
-- Steps that all ranks have, with equally many collectives. Warm-up is left out.
select s.job, s.step, s.collectives
from (select job, step, count(*) as ranks, min(collectives) as collectives, max(collectives) as most
      from (select job, rank, step, max(number) as collectives from collectives group by job, rank, step) c group by job, step) s
join (select job, step, count(*) as ranks, sum(warmup) as warm from spans group by job, step) w on w.job = s.job and w.step = s.step
join (select job, count(distinct rank) as ranks from spans group by job) r on r.job = s.job
where s.ranks = r.ranks and w.ranks = r.ranks and s.collectives = s.most and w.warm * 2 <= r.ranks;

-- table: kept
-- Those with as many collectives as most, numbered from 0.
select s.job, s.step, s.collectives, row_number() over (partition by s.job order by s.step) - 1 as place
from shapes s join (select job, collectives, row_number() over (partition by job order by count(*) desc, collectives desc) as place
                    from shapes group by job, collectives) m on m.job = s.job and m.collectives = s.collectives and m.place = 1;

-- table: transfers
-- Each collective once: the rank that came last waited least. What it waited is the transfer. The collective ends its round.
select k.job, k.place * k.collectives + c.number - 1 as round, c.number, min(c.end_ns - c.start_ns) as transfer_ns,
       max(c.end_ns - c.start_ns) - min(c.end_ns - c.start_ns) as waited_ns, min_by(c.rank, c.end_ns - c.start_ns) as last_rank
from collectives c join kept k on k.job = c.job and k.step = c.step group by k.job, k.place, k.collectives, c.number;

-- table: work
-- What each rank did between two collectives. Work of one kind stands before the collective of the same number. Work of the
-- last kind stands behind all of them, and before the first collective of the next step: in its round.
select k.job, c.rank, k.place, c.number - 1 as kind, k.place * k.collectives + c.number - 1 as round,
       c.start_ns - coalesce(c.before_ns, s.start_ns) as work_ns
from collectives c join kept k on k.job = c.job and k.step = c.step
join spans s on s.job = c.job and s.rank = c.rank and s.step = c.step
union all
select k.job, c.rank, k.place, c.number as kind, k.place * k.collectives + c.number as round, s.end_ns - c.end_ns as work_ns
from collectives c join kept k on k.job = c.job and k.step = c.step and k.collectives = c.number
join spans s on s.job = c.job and s.rank = c.rank and s.step = c.step;

-- table: ideals
-- The ideal time of each round: the mean of each kind of work, over ranks and steps, and the median of the transfer before it.
select w.job, w.round, sum(m.mean_ns) + coalesce(max(i.median_ns), 0) as ideal_ns, coalesce(max(t.transfer_ns), 0) as transfer_ns
from (select distinct job, place, kind, round from work) w
join (select job, kind, avg(work_ns) as mean_ns from work group by job, kind) m on m.job = w.job and m.kind = w.kind
left join transfers t on t.job = w.job and t.round = w.round - 1
left join (select job, number, median(transfer_ns) as median_ns from transfers group by job, number) i on i.job = t.job and i.number = t.number
group by w.job, w.round;

-- table: pieces
-- The work of each rank in each round.
select job, rank, round, sum(work_ns) as work_ns from work group by job, rank, round;

-- table: rounds
-- Each round: its longest work, the longest of the other ranks, and its ideal time. `transfer_ns` is that before the work.
select f.job, f.round, f.first_rank, f.first_ns + i.transfer_ns as first_ns,
       coalesce(max(case when p.rank <> f.first_rank then p.work_ns end), 0) + i.transfer_ns as second_ns, i.ideal_ns, i.transfer_ns
from (select job, round, max_by(rank, work_ns) as first_rank, max(work_ns) as first_ns from pieces group by job, round) f
join ideals i on i.job = f.job and i.round = f.round
join pieces p on p.job = f.job and p.round = f.round
group by f.job, f.round, f.first_rank, f.first_ns, i.ideal_ns, i.transfer_ns;

-- view: whole
-- The time of the job, and its time if each piece of work took the ideal time.
select job, sum(first_ns) as job_ns, sum(ideal_ns) as ideal_ns from rounds group by job;

-- table: effects
-- Each rank: the job if all but this rank were ideal, and the job if this rank alone were.
select p.job, p.rank, sum(greatest(p.work_ns + r.transfer_ns, r.ideal_ns)) as only_ns,
       sum(greatest(case when r.first_rank = p.rank then r.second_ns else r.first_ns end, r.ideal_ns)) as without_ns
from pieces p join rounds r on r.job = p.job and r.round = p.round group by p.job, p.rank;

-- view: slowest
-- The slowest 3 % of the ranks, at least one.
select job, rank from (select job, rank, row_number() over (partition by job order by round(only_ns) desc, rank) as place, count(*) over (partition by job) as ranks
                       from effects) e
where place <= (ranks * 3 + 99) / 100;

-- answer: rank_steps
-- The rank view: time by rank, step and category.
select job, host, rank, step, min(start_ns) as start_ns, sum(duration_ns) as duration_ns, sum(input_ns) as input_ns, sum(forward_ns) as forward_ns,
       sum(backward_ns) as backward_ns, sum(optimizer_ns) as optimizer_ns, sum(lock_wait_ns) as lock_wait_ns, sum(blocked_ns) as blocked_ns, sum(other_ns) as other_ns
from steps group by job, host, rank, step order by job, rank, step;

-- answer: last
-- Who came last, how often, and how long the first rank to arrive waited then.
select job, last_rank, count(*) as times, sum(waited_ns) as waited_ns from transfers group by job, last_rank order by job, waited_ns desc, last_rank;

-- answer: job
-- What the job loses. S: the job by its ideal. M_W: the part of what is lost that vanishes if the slowest 3 % of the ranks were ideal.
select w.job, w.job_ns, w.ideal_ns, w.job_ns / w.ideal_ns as s, (w.job_ns - o.without_ns) / nullif(w.job_ns - w.ideal_ns, 0) as m_w
from whole w join (select r.job, sum(greatest(coalesce(o.most_ns, 0) + r.transfer_ns, r.ideal_ns)) as without_ns
                   from rounds r left join (select p.job, p.round, max(p.work_ns) as most_ns
                                            from pieces p left join slowest s on s.job = p.job and s.rank = p.rank
                                            where s.rank is null group by p.job, p.round) o on o.job = r.job and o.round = r.round
                   group by r.job) o on o.job = w.job order by w.job;

-- answer: what_if
-- What a rank costs the job. S_w: the job by its ideal, if all but this rank were ideal, at most S. What the job would save if this
-- rank were ideal, and the part of what is lost.
select e.job, e.rank, least(e.only_ns, w.job_ns) / w.ideal_ns as s_w, w.job_ns - e.without_ns as saved_ns,
       (w.job_ns - e.without_ns) / nullif(w.job_ns - w.ideal_ns, 0) as part
from effects e join whole w on w.job = e.job order by e.job, round(least(e.only_ns, w.job_ns) / w.ideal_ns, 9) desc, e.rank;
