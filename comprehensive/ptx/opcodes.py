"""TEMPORARY stand-in until the branch `opcodes` is merged; same interface."""
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum, Flag, auto
from functools import cached_property, lru_cache


class Role(Enum):
    DEF = auto()
    USE = auto()
    DEF_USE = auto()
    ADDRESS = auto()
    LABEL = auto()
    TARGETS = auto()
    CALLEE = auto()
    SYMBOL = auto()


class Effect(Flag):
    NONE = 0
    READ = auto()
    WRITE = auto()
    BARRIER = auto()


NO_DEF = {"st", "red", "bar", "barrier", "ret", "exit", "trap", "bra", "brx", "membar", "fence", "cp", "prefetch", "nanosleep"}
TYPES = {f"{k}{n}" for k in "busf" for n in (8, 16, 32, 64, 128)} | {"pred", "f16x2", "bf16", "bf16x2"}
SPACES = {"global", "shared", "local", "const", "param", "shared::cta", "shared::cluster"}
KNOWN = set("""add sub mul mad fma neg abs min max and or xor not shl shr mov cvt cvta setp selp set ld st atom red
bar barrier bra brx ret exit trap div rem sqrt rsqrt rcp sin cos ex2 lg2 bfe bfi popc clz brev prmt shf lop3 shfl vote
call membar fence isspacep activemask copysign testp slct alloca addc subc madc cnot sad bfind nanosleep""".split())


@dataclass(frozen=True)
class Opcode:
    text: str

    @cached_property
    def base(self) -> str:
        return self.text.split(".")[0]

    @cached_property
    def modifiers(self) -> tuple[str, ...]:
        return tuple(self.text.split(".")[1:])

    @cached_property
    def types(self) -> tuple[str, ...]:
        return tuple(m for m in self.modifiers if m in TYPES)

    @cached_property
    def vector(self) -> int:
        return next((int(m[1]) for m in self.modifiers if m in ("v2", "v4", "v8")), 1)

    @cached_property
    def space(self) -> str | None:
        return next((m for m in self.modifiers if m in SPACES), None) if self.base in ("ld", "st", "atom", "red") else None

    @property
    def is_known(self) -> bool:
        return self.base in KNOWN

    def roles(self, n: int) -> tuple[Role, ...]:
        if self.base == "bra":
            return (Role.LABEL,) * n
        if self.base == "brx":
            return (Role.USE, Role.TARGETS)[:n]
        if self.base == "call":
            return (Role.USE,) * n
        if self.base in NO_DEF:
            return (Role.USE,) * n
        return (Role.DEF, *(Role.USE,) * (n - 1))[:n]

    @property
    def effect(self) -> Effect:
        if self.base == "ld":
            return Effect.READ
        if self.base in ("st",):
            return Effect.WRITE
        if self.base in ("atom", "red", "call") or not self.is_known:
            return Effect.READ | Effect.WRITE
        if self.base in ("bar", "barrier", "fence", "membar"):
            return Effect.BARRIER
        return Effect.NONE

    @property
    def is_volatile(self) -> bool:
        return bool({"volatile", "relaxed", "acquire", "mmio"} & set(self.modifiers))

    @property
    def is_convergent(self) -> bool:
        return self.base in ("bar", "barrier", "shfl", "vote", "match", "activemask")

    @property
    def has_side_effects(self) -> bool:
        return self.effect & (Effect.WRITE | Effect.BARRIER) != Effect.NONE

    @property
    def is_terminator(self) -> bool:
        return self.base in ("bra", "brx", "ret", "exit", "trap")

    @property
    def reads_carry(self) -> bool:
        return self.base in ("addc", "subc", "madc")

    @property
    def writes_carry(self) -> bool:
        return "cc" in self.modifiers


@dataclass(frozen=True)
class SpecialRegister:
    type: str
    varies: str | None


@lru_cache(maxsize=None)
def special_register(name: str) -> SpecialRegister | None:
    base = name.split(".")[0]
    if base in ("%tid", "%laneid"):
        return SpecialRegister("u32", "lane")
    if base in ("%warpid",):
        return SpecialRegister("u32", "warp")
    if base in ("%ctaid", "%smid"):
        return SpecialRegister("u32", "block")
    if base in ("%ntid", "%nctaid", "%dynamic_smem_size"):
        return SpecialRegister("u32", None)
    if base in ("%clock", "%clock64"):
        return SpecialRegister("u32", "time")
    return None


@lru_cache(maxsize=None)
def opcode(text: str) -> Opcode:
    return Opcode(text)
