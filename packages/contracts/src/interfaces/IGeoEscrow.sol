// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoEscrow
/// @notice Holds each op's input from the moment it leaves the wallet until the delivery is proven or the wallet is refunded.
/// @dev An op's hash is its id: the EIP-712 digest of its GeoOp in this contract's domain ("GeoEscrow", "1").
///      The zero address as a token is the chain's native coin.
interface IGeoEscrow {
    /// @notice The fields that the wallet signed, except the locker, which is the caller.
    /// @param wallet The payer, and the recipient of a refund.
    /// @param inputToken The input token.
    /// @param inputAmount The input amount: nothing else leaves the wallet.
    /// @param index Round x 2^32 + position in the locker's ring; below 2^64, and used once.
    /// @param opDeadline Last second at which the input can be taken.
    /// @param refundDeadline Last second before anyone may refund the wallet.
    /// @param delivery hashStruct(Delivery): the output, its chain, vault, recipient and deadline.
    struct Op {
        address wallet;
        address inputToken;
        uint256 inputAmount;
        uint256 index;
        uint256 opDeadline;
        uint256 refundDeadline;
        bytes32 delivery;
    }

    /// @notice An op with the wallet's EIP-2098 signature over its hash (EIP-191, 32 bytes).
    struct SignedOp {
        Op op;
        bytes32 r;
        bytes32 vs;
    }

    /// @notice An op with the locker that took its input.
    struct LockedOp {
        address locker;
        Op op;
    }

    /// @dev The op's input is in the escrow.
    event Locked(bytes32 indexed op);
    /// @dev `lockMany` left this op out. It proves nothing about the op's future.
    event LockFailed(bytes32 indexed op);
    /// @dev The op is delivered; its input belongs to the vault.
    event Claimed(bytes32 indexed op);
    /// @dev `claimMany` left this op LOCKED because the token's cap for this hour is used up.
    event ClaimDeferred(bytes32 indexed op);
    /// @dev The op is closed; its input belongs to the wallet again.
    event Refunded(bytes32 indexed op);
    /// @dev A payment was refused; the owner can withdraw it.
    event Credited(address indexed owner, address indexed token, uint256 amount);
    /// @dev An owner withdrew its credit.
    event Withdrawn(address indexed owner, address indexed token, address to, uint256 amount);
    /// @dev The treasury proposed another attester, or withdrew the proposal (zero address).
    event AttesterProposed(address indexed attester, uint256 readyAt);
    /// @dev This attester signs from now on.
    event AttesterChanged(address indexed attester);
    /// @dev The maximum that can be claimed of a token per hour.
    event ClaimCapSet(address indexed token, uint256 limitPerHour);

    /// @dev The op's deadline has passed.
    error Expired();
    /// @dev Not `opDeadline < refundDeadline <= now + 7 days`.
    error BadDeadlines();
    /// @dev The wallet does not run GeoAccount's code.
    error NotDelegated();
    /// @dev The index does not fit 64 bits.
    error IndexOutOfRange();
    /// @dev The position is in use, or has seen this round or a higher one.
    error SlotTaken();
    /// @dev The token does not answer `balanceOf`, or its balance plus the amount overflows.
    error BadBalance();
    /// @dev The op is not LOCKED under this locker.
    error NotLocked();
    /// @dev The signature is not the attester's.
    error NotAttested();
    /// @dev The attester's signature is no longer valid.
    error AttestationExpired();
    /// @dev Only after the op's refundDeadline.
    error TooEarly();
    /// @dev The token's cap for this hour is used up; the op stays LOCKED and can be claimed in a later hour.
    error ClaimCapReached();
    /// @dev A cap is at most 2^112 - 1.
    error CapTooLarge();
    /// @dev Too little gas to give a payment its full allowance; nothing was changed.
    error LowGas();
    /// @dev There is nothing to withdraw.
    error NoCredit();
    /// @dev A withdrawal to the zero address or to this contract would be lost.
    error BadRecipient();
    /// @dev The signature is not the credit owner's.
    error BadSignature();
    /// @dev Only the treasury.
    error NotTreasury();
    /// @dev A role cannot be the zero address.
    error ZeroAddress();
    /// @dev No attester is proposed, or its delay is not over.
    error AttesterNotReady();
    /// @dev A call into the escrow during another one.
    error Reentrancy();

    /// @notice Takes an op's input. The caller is the op's locker.
    /// @param op The op.
    /// @param r First half of the wallet's signature.
    /// @param vs Second half of the wallet's signature.
    function lock(Op calldata op, bytes32 r, bytes32 vs) external;

    /// @notice Takes the inputs of many ops. An op that cannot be locked is reported and left out.
    /// @param ops The signed ops; those with equal input tokens side by side cost less.
    function lockMany(SignedOp[] calldata ops) external;

    /// @notice Pays a delivered op's input to the vault.
    /// @param op The op and its locker.
    /// @param r First half of the attester's signature over Claims([op]).
    /// @param vs Second half of the attester's signature.
    function claim(LockedOp calldata op, bytes32 r, bytes32 vs) external;

    /// @notice Pays the inputs of delivered ops to the vault: one transfer for each run of equal tokens. Ops that are no
    ///         longer LOCKED are left out, as are those above the token's cap, which can be claimed in a later hour.
    /// @param ops The ops and their lockers; sort them by token.
    /// @param r First half of the attester's signature over Claims(ops), in this order.
    /// @param vs Second half of the attester's signature.
    function claimMany(LockedOp[] calldata ops, bytes32 r, bytes32 vs) external;

    /// @notice Returns an op's input to its wallet after refundDeadline. Anyone may call.
    /// @param locker The op's locker.
    /// @param op The op.
    function refund(address locker, Op calldata op) external;

    /// @notice Returns an op's input to its wallet at any time, since the attester signed that it will not be delivered.
    /// @param locker The op's locker.
    /// @param op The op.
    /// @param validUntil Last second at which the attester's signature is valid.
    /// @param r First half of the attester's signature over Refund(op, validUntil).
    /// @param vs Second half of the attester's signature.
    function refundAttested(address locker, Op calldata op, uint256 validUntil, bytes32 r, bytes32 vs) external;

    /// @notice Pays out the caller's credit.
    /// @param token The token of the credit.
    /// @param to The recipient.
    function withdraw(address token, address to) external;

    /// @notice Pays out an owner's credit by signature, for owners without gas. Anyone may call.
    /// @param owner The owner of the credit.
    /// @param token The token of the credit.
    /// @param to The recipient.
    /// @param deadline Last second at which the signature is valid.
    /// @param r First half of the owner's EIP-712 signature over Withdraw(owner, token, to, nonces(owner), deadline).
    /// @param vs Second half of the owner's signature.
    function withdrawBySignature(
        address owner,
        address token,
        address to,
        uint256 deadline,
        bytes32 r,
        bytes32 vs
    ) external;

    /// @notice Proposes the next attester, or withdraws the proposal (zero address). Treasury only.
    /// @param next The next attester.
    function proposeAttester(address next) external;

    /// @notice Makes the proposed attester the attester, 8 days after the proposal. Treasury only.
    /// @dev Longer than an op can be held, so that every op locked before the proposal can be refunded by anyone first.
    function acceptAttester() external;

    /// @notice Sets how much of a token can be claimed per hour. Treasury only.
    /// @dev A token without a cap cannot be claimed, so that a stolen attester key cannot move unexpected tokens.
    /// @param token The token.
    /// @param limitPerHour The limit, at most 2^112 - 1.
    function setClaimCap(address token, uint256 limitPerHour) external;

    /// @notice An op's id.
    /// @param op The op.
    /// @param locker Its locker.
    function hashOp(Op calldata op, address locker) external view returns (bytes32);

    /// @notice The ring of a locker, as a Delivery names it: keccak256(abi.encode(chain id, escrow, locker)).
    /// @param locker The locker.
    function ringOf(address locker) external view returns (bytes32);

    /// @notice A position's word: round (32 bits) | state (2: NONE, LOCKED, CLAIMED, REFUNDED) | low 222 bits of the op's hash.
    /// @param locker The locker.
    /// @param position The position, below 2^32.
    function slot(address locker, uint256 position) external view returns (uint256 word);

    /// @notice Many positions' words.
    /// @param lockers The lockers.
    /// @param positions The positions, one for each locker.
    function slots(address[] calldata lockers, uint256[] calldata positions)
        external
        view
        returns (uint256[] memory words);

    /// @notice The amount an owner can withdraw of a token.
    /// @param owner The owner.
    /// @param token The token.
    function credits(address owner, address token) external view returns (uint256);

    /// @notice The number of an owner's withdrawals by signature: the nonce of the next one.
    /// @param owner The owner.
    function nonces(address owner) external view returns (uint256);

    /// @notice A token's cap and the amount claimed this hour.
    /// @param token The token.
    function claimCaps(address token) external view returns (uint256 limitPerHour, uint256 claimedThisHour);

    /// @notice The key that attests deliveries.
    function attester() external view returns (address);

    /// @notice The next attester, and the second from which it can be accepted.
    function pendingAttester() external view returns (address next, uint256 readyAt);

    /// @notice The recipient of claimed inputs.
    function VAULT() external view returns (address);

    /// @notice The code a wallet must be delegated to.
    function ACCOUNT() external view returns (address);

    /// @notice The account that sets caps and proposes attesters.
    function TREASURY() external view returns (address);
}
