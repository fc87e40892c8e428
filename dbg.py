import sys
from tests.protocol.chaos import *
from otto_protocol.match import audit as A
c=Chaos(int(sys.argv[1]))
try: c.run()
except Exception as e: print(repr(e)[:600])
print("\n".join(c.story[-12:]))
for s in c.honest():
    S=c.session(s); ct=S.log.count()
    print(s,S.replica.view,S.replica.step,S.replica.phase,'live',S.log.live,'sign',S.may_sign,'out',S.out,'aw',S.log.awaited(),'conv',S.convicted.keys(),'left',ct.left,'last',[(n,sorted(p.gone),p.step) for n,p in [ct.last_vote(s)] if 1] if ct.last_vote(s) else None,'high',ct.highest,'due',bool(ct.to_vote(s,S._suspects,S._proposal)),'doubt',S._suspects, 'entries',{k:[(r,sorted(q.gone)) for r,q in v] for k,v in ct.entries.items()},'rounds',{n:{k:[sorted(q.gone) for q in v] for k,v in b.items()} for n,b in ct.votes.items()})
    t=c.session(s).transcript()
    log=Log(t.start.roster,c.rng)
    for it in t.items:
        p=m.parse(it)
        new=log.receive(it)
        ok=True
        if isinstance(p,m.Signed):
            ok=p.seat in log.convicted or (new and log.counts(p))
            msg=m.parse_content(p)
            if not ok:
                print(s,'BAD',new,msg.header.view,msg.header.step,p.seat,msg.body, 'pos',log.replica.view,log.replica.step, log.live); break
        o=log.count().opened() if log.view.ballots.entries else None
        if o: print(s,'open',log.open_view(o))
