"""Scripts in other people's styles, in the folder beside this file, and what can be done to them.

Those whose names begin with ``sick`` are sick as they stand, the others healthy. The line to blame
ends in ``# sick``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "strangers"
HEALTHY = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("sick"))


@dataclass(frozen=True)
class Sick:
    """A script, the kind of its alarm, and what is changed in it."""

    name: str
    script: str
    kind: str
    changes: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The script as it is run."""
        text = (HERE / f"{self.script}.py").read_text(encoding="utf-8")
        for before, after in self.changes:
            assert before in text, before
            text = text.replace(before, after, 1)
        return text


SICK = (
    Sick('llama-detach-in-mlp', 'llama', 'detached', (
        ('def forward(self, x): return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))', 'def forward(self, x):\n        g = F.silu(self.gate_proj(x)).detach()  # sick\n        return self.down_proj(g * self.up_proj(x))'),
    )),
    Sick('llama-kv-cache-data', 'llama', 'detached', (
        ('        k = k.repeat_interleave', '        k = k.data  # sick\n        k = k.repeat_interleave'),
    )),
    Sick('llama-rotary-under-no-grad-on-q', 'llama', 'detached', (
        ('        q = q * cos.unsqueeze(1) + rotate_half(q) * sin.unsqueeze(1)\n', '        with torch.no_grad():\n            q = q * cos.unsqueeze(1) + rotate_half(q) * sin.unsqueeze(1)  # sick\n'),
    )),
    Sick('llama-mask-inf-all', 'llama', 'birth forward', (
        ('        m = torch.full((T, T), torch.finfo(w.dtype).min).triu(1)\n        w = F.softmax(w + m,', "        m = torch.full((T, T), float('-inf')).triu(0)\n        w = F.softmax(w + m,"),
        ('dtype=torch.float32).to(q.dtype)', 'dtype=torch.float32).to(q.dtype)  # sick'),
    )),
    Sick('llama-norm-eps-0-after-zero-embedding', 'llama', 'birth forward', (
        ('        v = h.to(torch.float32).pow(2).mean(-1, keepdim=True)\n        return self.weight * (h * torch.rsqrt(v + self.eps))', '        v = h.to(torch.float32).pow(2).mean(-1, keepdim=True)\n        return self.weight * (h * torch.rsqrt(v))  # sick'),
        ('    ids = torch', '    with torch.no_grad(): model.embed_tokens.weight[7] = 0\n    ids = torch'),
    )),
    Sick('llama-no-decay-group-forgotten', 'llama', 'no optimizer', (
        ('    return [dict(params=decay, weight_decay=wd), dict(params=nodecay, weight_decay=0.0)]', '    return [dict(params=decay, weight_decay=wd)]'),
    )),
    Sick('llama-no-zero-grad', 'llama', 'stale', (
        ('opt.step(); sched.step(); opt.zero_grad(set_to_none=True)', 'opt.step(); sched.step()'),
        ('        out.loss.backward()\n', '        out.loss.backward()  # sick\n'),
    )),
    Sick('llama-tied-head-detached', 'llama', 'tied', (
        ('logits = self.lm_head(self.norm(h))', 'logits = F.linear(self.norm(h), self.lm_head.weight.detach())  # sick'),
    )),
    Sick('llama-lr-huge', 'llama', 'learning rate', (
        ('lr=1e-3, betas', 'lr=5.0, betas'),
        ('min(1.0, (s + 1) / 10)', '1.0'),
    )),
    Sick('llama-loss-item', 'llama', 'detached', (
        ('        out.loss.backward()\n', '        torch.tensor(out.loss.item(), requires_grad=True).backward()\n'),
    )),
    Sick('lightning-encoder-no-grad', 'trainer_class', 'detached', (
        ('    def forward(self, x): return self.head(self.encoder(x))', '    def forward(self, x):\n        with torch.no_grad():\n            z = self.encoder(x)  # sick\n        return self.head(z)'),
    )),
    Sick('lightning-dead-conv', 'trainer_class', 'dead units', (
        ('module = Classifier()\n', 'module = Classifier()\nnn.init.constant_(module.encoder[1].bias, -30.0)\n'),
    )),
    Sick('lightning-head-numpy', 'trainer_class', 'detached', (
        ('return self.head(self.encoder(x))', 'return self.head(torch.from_numpy(self.encoder(x).cpu().detach().numpy()))  # sick'),
    )),
    Sick('lightning-sched-0-lr', 'trainer_class', 'learning rate', (
        ('torch.optim.lr_scheduler.CosineAnnealingLR(o, 5)', 'torch.optim.lr_scheduler.LambdaLR(o, lambda e: 0.0)'),
    )),
    Sick('lightning-replaced-head', 'trainer_class', 'strangers', (
        ('        (opt,), (sch,) = module.configure_optimizers()\n', '        (opt,), (sch,) = module.configure_optimizers()\n        module.head = nn.Linear(12, 4)\n'),
    )),
    Sick('functional-no-zero', 'functional', 'stale', (
        ('            t.grad = None\n', ''),
        ('    L.backward()\n', '    L.backward()  # sick\n'),
    )),
    Sick('functional-log-of-negative', 'functional', 'birth forward', (
        ('    L = ((H @ W2 - Y) ** 2).mean()', '    H = torch.log(H)  # sick\n    L = ((H @ W2 - Y) ** 2).mean()'),
    )),
    Sick('functional-forgotten-tensor', 'functional', 'no optimizer', (
        ('        for t in (W1, b1, W2):\n            t -= 0.1 * t.grad\n            t.grad = None', '        for t in (W1, W2):\n            t -= 0.1 * t.grad\n        for t in (W1, b1, W2): t.grad = None'),
    )),
    Sick('functional-uphill', 'functional', 'ascent', (
        ('t -= 0.1 * t.grad', 't += 0.01 * t.grad'),
    )),
    Sick('functional-lr-big', 'functional', 'learning rate', (
        ('t -= 0.1 * t.grad', 't -= 30.0 * t.grad'),
    )),
    Sick('gan-step-before-backward', 'sick_gan_d_step_before_g_backward', 'overwritten'),
    Sick('gan-generator-detached', 'gan_penalty', 'detached', (
        ('lossG = -netD(netG(z)).mean()', 'lossG = -netD(netG(z).detach()).mean()  # sick'),
    )),
    Sick('gan-optimizer-of-wrong-net', 'gan_penalty', 'no optimizer', (
        ('optG = optim.Adam(netG.parameters()', 'optG = optim.Adam(netD.parameters()'),
    )),
    Sick('lstm-decoder-of-detached', 'word_lm', 'detached', (
        ('return self.decoder(self.drop(out)).view(-1, 40), hidden', 'return self.decoder(self.drop(out).data).view(-1, 40), hidden  # sick'),
    )),
    Sick('lstm-state-not-detached', 'word_lm', 'freed graph', (
        ('        hidden = repackage_hidden(hidden)\n', ''),
        ('        loss.backward()\n', '        loss.backward()  # sick\n'),
    )),
    Sick('lstm-exploding', 'sick_lstm_exploding', 'exploding'),
    Sick('seq2seq-attention-detached', 'seq2seq', 'detached', (
        ('        c = torch.bmm(a.unsqueeze(1), enc).squeeze(1)', '        c = torch.bmm(a.detach().unsqueeze(1), enc).squeeze(1)  # sick'),
    )),
    Sick('amp-fp16-like-overflow-in-exp', 'amp_checkpoint', 'birth forward', (
        ('            loss = nn.functional.cross_entropy(net(x), y)\n', '            out = net(x)\n            loss = torch.log(torch.exp(200 * out).sum(1)).mean()  # sick\n'),
        ('for r in (False, True)', 'for r in (False, )'),
        ('netA, netB = nets', ''),
    )),
    Sick('checkpoint-layer-unused', 'amp_checkpoint', 'unreachable', (
        ('        for b in self.bs: x', '        for b in self.bs[:2]: x'),
        ('for r in (False, True)', 'for r in (False, )'),
        ('netA, netB = nets', ''),
    )),
    Sick('checkpoint-block-detached', 'amp_checkpoint', 'detached', (
        ('        return x + self.f(x)\n', '        return x + self.f(x).detach()  # sick\n'),
        ('for r in (False, True)', 'for r in (False, )'),
        ('netA, netB = nets', ''),
    )),
    Sick('vqvae-codebook-without-commitment', 'vqvae', 'detached', (
        ('        loss = ((q - z.detach()) ** 2).mean() + 0.25 * ((q.detach() - z) ** 2).mean()', '        loss = 0.25 * ((q.detach() - z) ** 2).mean()'),
    )),
    Sick('function-of-slope-infinite', 'sick_custom_function_wrong_returns_nan_at_0', 'birth backward'),
    Sick('policy-detached', 'reinforce_dqn', 'detached', (
        ('    loss = -(torch.stack(logp) * adv).mean() + (vals - rets).pow(2).mean()', '    loss = -(torch.stack(logp).detach() * adv).mean() + (vals - rets).pow(2).mean()  # sick'),
    )),
    Sick('vae-log-of-variance', 'vae_backbone', 'birth forward', (
        ('- 0.5 * (1 + lv - mu ** 2 - lv.exp())', '- 0.5 * (1 + torch.log(lv) - mu ** 2 - lv)'),
    )),
    Sick('clip-temperature-forgotten', 'clip', 'no optimizer', (
        ('o = torch.optim.AdamW(m.parameters(), lr=1e-3)', 'o = torch.optim.AdamW([*m.i.parameters(), *m.t.parameters()], lr=1e-3)'),
    )),
    Sick('clip-normalise-zero-vector', 'clip', 'birth forward', (
        ('def forward(s, a, b): a, b = F.normalize(s.i(a), dim=-1), F.normalize(s.t(b), dim=-1); return s.logit_scale.exp() * a @ b.t()', 'def forward(s, a, b):\n        a, b = s.i(a), s.t(b); a, b = a / a.norm(dim=-1, keepdim=True), b / (b * 0).norm(dim=-1, keepdim=True)  # sick\n        return s.logit_scale.exp() * a @ b.t()'),
    )),
    Sick('unet-in-place-on-skip', 'unet', 'overwritten', (
        ('        a = F.silu(s.n1(s.d1(x))); b', '        p = s.n1(s.d1(x)); a = F.silu(p); p.add_(1)  # sick\n        b'),
    )),
    Sick('unet-time-embedding-unused', 'unet', 'unreachable', (
        (' + s.temb(t)[:, :, None, None]', ''),
    )),
    Sick('unet-lr-tiny', 'unet', 'learning rate', (
        ('torch.optim.AdamW(u.parameters(), 2e-3)', 'torch.optim.SGD(u.parameters(), 1e-13)'),
    )),
    Sick('sparse-embedding-not-in-optimizer', 'two_losses', 'no optimizer', (
        ('sp.step(); de.step()', 'de.step()'),
    )),
    Sick('deep-sigmoid-stack', 'sick_deep_sigmoid_stack', 'vanishing'),
    Sick('saturated-tanh-by-unscaled-features', 'sick_saturated_tanh_by_unscaled_features', 'saturated units'),
    Sick('zero-grad-between-backward-and-step', 'unet', 'reset too soon', (
        ('o.zero_grad(); l.backward(); o.step()', 'l.backward(); o.zero_grad(); o.step()'),
    )),
    Sick('nan-in-batch-13-by-data', 'sick_nan_in_batch_13_by_data', 'birth forward'),
)
