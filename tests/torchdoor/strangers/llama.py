from dataclasses import dataclass, field
from typing import Optional
import torch, math
from torch import nn, Tensor
import torch.nn.functional as F

@dataclass
class TinyConfig:
    vocab_size: int = 61
    hidden_size: int = 32
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    intermediate_size: int = 64
    max_position_embeddings: int = 32
    rms_norm_eps: float = 1e-6
    initializer_range: float = 0.02
    tie_word_embeddings: bool = True

class RMSNorm(nn.Module):
    def __init__(self, n, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n)); self.eps = eps
    def forward(self, h):
        v = h.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (h * torch.rsqrt(v + self.eps))

def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)

class Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        inv = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
        self.register_buffer("inv_freq", inv, persistent=False)
    @torch.no_grad()
    def forward(self, x, position_ids):
        f = position_ids[..., None].float() * self.inv_freq
        e = torch.cat((f, f), -1)
        return e.cos().to(x.dtype), e.sin().to(x.dtype)

class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.nh, self.kv = c.num_attention_heads, c.num_key_value_heads
        self.hd = c.hidden_size // self.nh
        self.q_proj = nn.Linear(c.hidden_size, self.nh * self.hd, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, self.kv * self.hd, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, self.kv * self.hd, bias=False)
        self.o_proj = nn.Linear(self.nh * self.hd, c.hidden_size, bias=False)
    def forward(self, h, cos, sin, attention_mask=None):
        B, T, _ = h.shape
        q = self.q_proj(h).view(B, T, self.nh, self.hd).transpose(1, 2)
        k = self.k_proj(h).view(B, T, self.kv, self.hd).transpose(1, 2)
        v = self.v_proj(h).view(B, T, self.kv, self.hd).transpose(1, 2)
        q = q * cos.unsqueeze(1) + rotate_half(q) * sin.unsqueeze(1)
        k = k * cos.unsqueeze(1) + rotate_half(k) * sin.unsqueeze(1)
        k = k.repeat_interleave(self.nh // self.kv, 1)
        v = v.repeat_interleave(self.nh // self.kv, 1)
        w = q @ k.transpose(2, 3) / math.sqrt(self.hd)
        m = torch.full((T, T), torch.finfo(w.dtype).min).triu(1)
        w = F.softmax(w + m, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o_proj((w @ v).transpose(1, 2).reshape(B, T, -1))

class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)
    def forward(self, x): return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))

class DecoderLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self_attn, self.mlp = Attention(c), MLP(c)
        self.input_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
    def forward(self, h, **kw):
        h = h + self.self_attn(self.input_layernorm(h), **kw)
        return h + self.mlp(self.post_attention_layernorm(h))

@dataclass
class CausalLMOutput:
    loss: Optional[Tensor] = None
    logits: Optional[Tensor] = None

class TinyLlama(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([DecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rotary_emb = Rotary(config.hidden_size // config.num_attention_heads)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.apply(self._init_weights)
        if config.tie_word_embeddings: self.lm_head.weight = self.embed_tokens.weight
    def _init_weights(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)): m.weight.data.normal_(0.0, self.config.initializer_range)
    def forward(self, input_ids, labels=None):
        h = self.embed_tokens(input_ids)
        pos = torch.arange(input_ids.size(1)).unsqueeze(0)
        cos, sin = self.rotary_emb(h, pos)
        for layer in self.layers: h = layer(h, cos=cos, sin=sin)
        logits = self.lm_head(self.norm(h))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[..., :-1, :].reshape(-1, self.config.vocab_size).float(), labels[..., 1:].reshape(-1), ignore_index=-100)
        return CausalLMOutput(loss, logits)

def get_parameter_groups(model, wd):
    decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
    nodecay = [p for n, p in model.named_parameters() if p.dim() < 2]
    return [dict(params=decay, weight_decay=wd), dict(params=nodecay, weight_decay=0.0)]

def main():
    torch.manual_seed(11)
    model = TinyLlama(TinyConfig())
    opt = torch.optim.AdamW(get_parameter_groups(model, 0.1), lr=1e-3, betas=(0.9, 0.95))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10))
    ids = torch.randint(0, 61, (8, 16))
    labels = ids.clone(); labels[:, :3] = -100
    global history, trained
    history = []
    model.train()
    for step in range(20):
        out = model(input_ids=ids, labels=labels)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step(); sched.step(); opt.zero_grad(set_to_none=True)
        history.append(out.loss.item())
    trained = model
if __name__ == "__main__":
    main()
