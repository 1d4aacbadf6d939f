"""Every call of the service, with the standard library alone: from docs/openapi.json by npm run generate.

    client = Client("http://127.0.0.1:8080", api_key)
    quote = client.quote({"originChain": 31337, ...})
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NotRequired, TypedDict
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener


class Unmoved(HTTPRedirectHandler):
    """The API key is for this service alone and must not follow a redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


opener = build_opener(Unmoved)


def in_path(value: Any) -> str:
    return quote(str(value), safe="")


class GeoswapError(Exception):
    """A refusal by the service: `code` is stable, `recovery` says what to do."""

    def __init__(self, status: int, reply: dict[str, Any]):
        super().__init__(f"{reply.get('code')}: {reply.get('message')}")
        self.status = status
        self.code = reply.get("code")
        self.recovery = reply.get("recovery", {})
        self.reply = reply


Address = str
ChainId = int
ChainRef = int | str
SealedToken = str
Time = str
Token = str
Usd = str
InputMethod = Literal["delegation", "authorization", "permit", "deposit", "transfer", "payment"]
OriginMethod = Literal["delegation", "authorization", "permit", "deposit", "transfer"]
SwapStatus = Literal["pending", "settled", "failed", "refunded"]


class ChainEntry(TypedDict):
    chainId: ChainId
    caip: dict[str, Any]
    name: str
    family: Literal["evm", "solana"]
    native: dict[str, Any]
    available: bool
    reason: NotRequired[Literal["CHAIN_UNAVAILABLE", "PRICE_UNAVAILABLE"]]
    attesterChangeAt: NotRequired[Time]


class ChainsReply(TypedDict):
    chains: list[ChainEntry]


class TokenEntry(TypedDict):
    chainId: ChainId
    caip: dict[str, Any]
    symbol: str
    address: str
    decimals: int
    asset: str
    native: bool
    input: bool
    output: bool
    closed: NotRequired[str]
    originMethods: NotRequired[list[OriginMethod]]
    maxOutput: NotRequired[str]
    priceUsd: NotRequired[Usd]


class TokensReply(TypedDict):
    tokens: list[TokenEntry]


class Capability(TypedDict):
    enabled: bool
    reason: NotRequired[Literal[
        "NOT_CONFIGURED",
        "NO_TOKEN",
        "NO_ROOM",
        "NO_ENDPOINT",
        "KEY_NOT_ALLOWED",
        "ACCOUNT_NOT_ALLOWED",
    ]]


class CapabilitiesReply(TypedDict):
    versions: dict[str, Any]
    originMethods: dict[str, Any]
    features: dict[str, Any]
    limits: dict[str, Any]


class Fee(TypedDict):
    kind: Literal[
        "serviceFee",
        "originNetwork",
        "deliveryNetwork",
        "accountRent",
        "priceImpact",
        "integratorFee",
        "rebalancing",
        "riskPremium",
    ]
    amount: str
    usd: NotRequired[Usd]


class FeeDiscount(TypedDict):
    tier: str
    discountPercent: int
    baseFeeBps: float


class QuotedMethod(TypedDict):
    method: OriginMethod
    input: str
    output: str
    minOutput: str


class QuoteReply(TypedDict):
    geoQuoteToken: SealedToken
    origin: Literal["evm", "solana"]
    input: str
    output: str
    minOutput: str
    originMethods: NotRequired[list[QuotedMethod]]
    feeBps: float
    expiresAt: Time
    externalId: NotRequired[str]
    etaSeconds: int
    speed: NotRequired[Literal["final", "fast"]]
    speeds: NotRequired[list[dict[str, Any]]]
    fees: list[Fee]
    feeDiscount: NotRequired[FeeDiscount]
    inputUsd: NotRequired[Usd]
    outputUsd: NotRequired[Usd]
    priceImpactBps: NotRequired[int]
    warnings: NotRequired[list[QuoteWarning]]


class QuoteRequest(TypedDict):
    originChain: ChainRef
    destinationChain: ChainRef
    inputToken: Token
    outputToken: Token
    amount: str
    walletAddress: Address
    recipient: NotRequired[Address]
    slippageBps: NotRequired[int]
    maxEtaSeconds: NotRequired[int]
    integratorFeeCentiBps: NotRequired[int]
    externalId: NotRequired[str]
    tradeType: NotRequired[Literal["exactInput", "exactOutput"]]


class QuoteWarning(TypedDict):
    code: str
    message: str


class Authorization(TypedDict):
    chainId: int
    address: str
    nonce: int
    yParity: int
    r: str
    s: str


class BuildGeoOpReply(TypedDict):
    geoOpHash: str
    geoOpToken: SealedToken
    expiresAt: Time
    externalId: NotRequired[str]
    operation: TypedData
    method: NotRequired[InputMethod]
    typedData: NotRequired[TypedData]
    depositAddress: NotRequired[str]
    depositUntil: NotRequired[Time]
    transaction: NotRequired[dict[str, Any]]
    sendCalls: NotRequired[dict[str, Any]]


class BuildRequest(TypedDict):
    geoQuoteToken: SealedToken
    authorization: NotRequired[Authorization]
    method: NotRequired[OriginMethod]


class BuildSolanaRequest(TypedDict):
    geoQuoteToken: SealedToken
    authorization: NotRequired[Authorization]


class BuildSolanaTxReply(TypedDict):
    unsignedTransaction: str
    geoOpToken: SealedToken
    expiresAt: Time
    externalId: NotRequired[str]
    operation: dict[str, Any]


class DelegationReply(TypedDict):
    chainId: ChainId
    walletAddress: str
    caip: dict[str, Any]
    delegated: bool
    originReady: bool
    delegatedTo: NotRequired[str]
    delegationTarget: NotRequired[str]
    accountNonce: NotRequired[int]


class TypedData(TypedDict):
    domain: dict[str, Any]
    types: dict[str, Any]
    primaryType: str
    message: dict[str, Any]


class SubmitReply(TypedDict):
    swapId: str
    status: SwapStatus
    externalId: NotRequired[str]


class SubmitRequest(TypedDict):
    geoOpToken: SealedToken
    signature: NotRequired[str]


class SubmitSolanaRequest(TypedDict):
    geoOpToken: SealedToken
    signedTransaction: str


class Deposit(TypedDict):
    address: str
    until: NotRequired[Time]
    received: NotRequired[str]
    txHash: NotRequired[str]
    returned: NotRequired[list[dict[str, Any]]]
    next: NotRequired[str]


class Failure(TypedDict):
    code: Literal[
        "INVALID_AUTHORIZATION",
        "INPUT_UNAVAILABLE",
        "OPERATION_EXPIRED",
        "RECIPIENT_INVALID",
        "PRICE_MOVED",
        "DESTINATION_UNAVAILABLE",
        "DEPOSIT_MISSING",
        "DEPOSIT_TOO_SMALL",
        "ADDRESS_BLOCKED",
    ]
    message: str


class Refund(TypedDict):
    reason: Literal[
        "NO_LIQUIDITY",
        "PRICE_MOVED",
        "RECIPIENT_INVALID",
        "DESTINATION_UNAVAILABLE",
        "DELIVERY_EXPIRED",
        "ADDRESS_BLOCKED",
    ]
    amount: str
    token: str
    txHash: NotRequired[str]
    credited: NotRequired[bool]


class StatusReply(TypedDict):
    swapId: str
    status: SwapStatus
    substatus: Literal[
        "awaitingDeposit",
        "accepted",
        "locking",
        "locked",
        "delivering",
        "delivered",
        "refunding",
        "refundBlocked",
        "refunded",
        "failed",
    ]
    externalId: NotRequired[str]
    originTxHash: NotRequired[str]
    deliveryTxHash: NotRequired[str]
    createdAt: Time
    updatedAt: Time
    originChain: ChainId
    destinationChain: ChainId
    caip: dict[str, Any]
    amounts: SwapAmounts
    timeline: list[TimelineEntry]
    failure: NotRequired[Failure]
    refund: NotRequired[Refund]
    waiting: NotRequired[dict[str, Any]]
    method: NotRequired[InputMethod]
    speed: NotRequired[Literal["final", "fast"]]
    deposit: NotRequired[Deposit]


class SwapAmounts(TypedDict):
    input: str
    quotedOutput: str
    minOutput: str
    delivered: NotRequired[str]
    repriced: NotRequired[dict[str, Any]]
    riskPremium: NotRequired[dict[str, Any]]


class SwapRecord(TypedDict):
    swapId: str
    status: SwapStatus
    substatus: Literal[
        "awaitingDeposit",
        "accepted",
        "locking",
        "locked",
        "delivering",
        "delivered",
        "refunding",
        "refundBlocked",
        "refunded",
        "failed",
    ]
    externalId: NotRequired[str]
    originTxHash: NotRequired[str]
    deliveryTxHash: NotRequired[str]
    createdAt: Time
    updatedAt: Time
    originChain: ChainId
    destinationChain: ChainId
    caip: dict[str, Any]
    amounts: SwapAmounts
    timeline: list[TimelineEntry]
    failure: NotRequired[Failure]
    refund: NotRequired[Refund]
    waiting: NotRequired[dict[str, Any]]
    method: NotRequired[InputMethod]
    speed: NotRequired[Literal["final", "fast"]]
    deposit: NotRequired[Deposit]
    walletAddress: str
    recipient: str
    inputToken: str
    outputToken: str


class TimelineEntry(TypedDict):
    stage: str
    at: Time
    chainId: NotRequired[ChainId]
    txHash: NotRequired[str]


class HistoryReply(TypedDict):
    swaps: list[SwapRecord]
    nextCursor: NotRequired[str]


class WebhookEvent(TypedDict):
    type: Literal[
        "swap.awaitingDeposit",
        "swap.accepted",
        "swap.locking",
        "swap.locked",
        "swap.delivering",
        "swap.settled",
        "swap.refunding",
        "swap.refundBlocked",
        "swap.refunded",
        "swap.failed",
    ]
    timestamp: Time
    sequence: int
    data: SwapRecord


class X402Request(TypedDict):
    originChain: str
    destinationChain: str
    inputToken: str
    outputToken: Token
    amount: str
    recipient: Address
    wallet: NotRequired[Address]


class PaymentRequired(TypedDict):
    x402Version: Literal[1]
    error: str
    accepts: list[dict[str, Any]]


class Error(TypedDict):
    code: Literal[
        "INVALID_REQUEST",
        "MISSING_API_KEY",
        "INVALID_API_KEY",
        "INVALID_TOKEN",
        "FORBIDDEN",
        "ADDRESS_BLOCKED",
        "SWAP_NOT_FOUND",
        "NOT_FOUND",
        "METHOD_NOT_ALLOWED",
        "BODY_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "NEEDS_DELEGATION",
        "INVALID_AUTHORIZATION",
        "QUOTE_EXPIRED",
        "OPERATION_EXPIRED",
        "UNSUPPORTED_DELEGATION",
        "UNSUPPORTED_METHOD",
        "INVALID_AUTHORIZATION_SIGNATURE",
        "INVALID_SIGNATURE",
        "TRANSACTION_MISMATCH",
        "UNSUPPORTED_CHAIN",
        "UNSUPPORTED_TOKEN",
        "NO_ROUTE",
        "NEEDS_LARGER_SIZE",
        "INSUFFICIENT_LIQUIDITY",
        "INSUFFICIENT_BALANCE",
        "KEY_LIMIT_EXCEEDED",
        "RATE_LIMITED",
        "INTERNAL",
        "CHAIN_UNAVAILABLE",
        "PRICE_UNAVAILABLE",
        "SERVICE_UNAVAILABLE",
    ]
    message: str
    requestId: str
    retryable: bool
    recovery: dict[str, Any]
    details: NotRequired[dict[str, Any]]


class FieldIssue(TypedDict):
    field: str
    message: str


class Client:
    """The calls of the service at this URL. `timeout` is in seconds; held reads take up to 15 s."""

    def __init__(self, base_url: str, api_key: str, timeout: float = 35):
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.timeout = timeout

    def _open(self, method: str, path: str, query: dict[str, Any], body: Any = None):
        given = {name: value for name, value in query.items() if value is not None}
        url = self.base_url + path + ("?" + urlencode(given) if given else "")
        headers = {"x-api-key": self.api_key, "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            return opener.open(Request(url, data, headers, method=method), timeout=self.timeout)
        except HTTPError as error:
            text = error.read()
            try:
                reply = json.loads(text)
            except ValueError:
                reply = {"code": "UNEXPECTED_REPLY", "message": f"status {error.code} without JSON"}
            raise GeoswapError(error.code, reply) from None

    def _call(self, method: str, path: str, query: dict[str, Any], body: Any = None) -> Any:
        with self._open(method, path, query, body) as reply:
            return json.load(reply)

    def _stream(self, path: str, query: dict[str, Any]) -> Iterator[Any]:
        with self._open("GET", path, query) as reply:
            for line in reply:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])

    def chains(self) -> ChainsReply:
        """List the chains."""
        return self._call("GET", "/swap/chains", {})

    def tokens(self, *, chainId: ChainRef | None = None) -> TokensReply:
        """List the tokens."""
        return self._call("GET", "/swap/tokens", {"chainId": chainId})

    def capabilities(self) -> CapabilitiesReply:
        """List what this API key can do here."""
        return self._call("GET", "/swap/capabilities", {})

    def quote(self, body: QuoteRequest) -> QuoteReply:
        """Price a swap."""
        return self._call("POST", "/swap/quote", {}, body)

    def delegation(self, *, chainId: ChainRef, walletAddress: Address) -> DelegationReply:
        """Read a wallet's delegation."""
        return self._call("GET", "/swap/delegation", {"chainId": chainId, "walletAddress": walletAddress})

    def delegation_by_path(self, chainId: str, walletAddress: Address) -> DelegationReply:
        """Read a wallet's delegation, by path."""
        return self._call("GET", f"/swap/delegation/{in_path(chainId)}/{in_path(walletAddress)}", {})

    def build_geo_op(self, body: BuildRequest) -> BuildGeoOpReply:
        """Build the operation (EVM origin)."""
        return self._call("POST", "/swap/build-geo-op", {}, body)

    def build_solana_tx(self, body: BuildSolanaRequest) -> BuildSolanaTxReply:
        """Build the transaction to sign (Solana origin)."""
        return self._call("POST", "/swap/build-solana-tx", {}, body)

    def submit(self, body: SubmitRequest) -> SubmitReply:
        """Submit a signed operation (EVM origin)."""
        return self._call("POST", "/swap/submit", {}, body)

    def submit_solana(self, body: SubmitSolanaRequest) -> SubmitReply:
        """Submit a signed transaction (Solana origin)."""
        return self._call("POST", "/swap/submit-solana", {}, body)

    def status(self, swapId: str, *, wait: float | None = None) -> StatusReply:
        """Read a swap, held until it ends."""
        return self._call("GET", f"/swap/status/{in_path(swapId)}", {"wait": wait})

    def events(self, swapId: str, *, lastEventId: int | None = None) -> Iterator[StatusReply]:
        """Follow a swap, change by change."""
        return self._stream(f"/swap/status/{in_path(swapId)}/events", {"lastEventId": lastEventId})

    def history(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        wallet: Address | None = None,
        externalId: str | None = None,
        status: SwapStatus | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> HistoryReply:
        """List the account's swaps."""
        return self._call(
            "GET",
            "/swap/history",
            {"limit": limit, "cursor": cursor, "wallet": wallet, "externalId": externalId, "status": status, "from": from_, "to": to},
        )

    def x402(
        self,
        *,
        originChain: str,
        destinationChain: str,
        inputToken: str,
        outputToken: Token,
        amount: str,
        recipient: Address,
        wallet: Address | None = None,
    ) -> StatusReply:
        """Swap by one payment (x402)."""
        return self._call(
            "GET",
            "/swap/x402",
            {"originChain": originChain, "destinationChain": destinationChain, "inputToken": inputToken, "outputToken": outputToken, "amount": amount, "recipient": recipient, "wallet": wallet},
        )

    def x402_post(self, body: X402Request) -> StatusReply:
        """Swap by one payment (x402), by body."""
        return self._call("POST", "/swap/x402", {}, body)
