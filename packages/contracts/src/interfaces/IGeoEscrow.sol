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

    /// @notice An op with the wallet's EIP-2098 signature: over the op's hash itself (EIP-712), or over the 32 bytes of
    ///         it (EIP-191).
    struct SignedOp {
        Op op;
        bytes32 r;
        bytes32 vs;
    }

    /// @notice An op with the wallet's signature of the input token's EIP-3009 authorization.
    struct AuthorizedOp {
        Op op;
        bytes signature;
    }

    /// @notice An op with the locker that took its input.
    struct LockedOp {
        address locker;
        Op op;
    }

    /// @notice A set of attesters, sorted, of which `threshold` must sign.
    /// @param since The first refundDeadline of the ops that it decides.
    struct Attesters {
        address[] members;
        uint256 threshold;
        uint256 since;
    }

    /// @dev The op's input is in the escrow.
    event Locked(bytes32 indexed op);
    /// @dev A batch left this op out. It proves nothing about the op's future.
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
    /// @dev This much of a token left an op's address: to the op's wallet, or, as `Credited` in the same call says, into
    ///      this contract as a credit of that wallet.
    event Recovered(bytes32 indexed op, address indexed token, uint256 amount);
    /// @dev The treasury proposed another set of attesters, or withdrew the proposal (no members).
    event AttestersProposed(address[] members, uint256 threshold, uint256 readyAt);
    /// @dev This set decides ops whose refundDeadline is `since` or later.
    event AttestersChanged(address[] members, uint256 threshold, uint256 since);
    /// @dev The maximum that can be claimed of a token per hour.
    event ClaimCapSet(address indexed token, uint256 limitPerHour);
    /// @dev The maximum that attesters can refund of a token per hour.
    event RefundCapSet(address indexed token, uint256 limitPerHour);
    /// @dev The treasury stopped attested refunds, or allowed them again.
    event AttestedRefundsStopSet(bool isStopped);

    /// @dev The op's deadline has passed.
    error Expired();
    /// @dev Not `opDeadline < refundDeadline <= now + 7 days`.
    error BadDeadlines();
    /// @dev The wallet does not run GeoAccount's code.
    error NotDelegated();
    /// @dev The index does not fit 64 bits.
    error IndexOutOfRange();
    /// @dev The wallet is the zero address or this contract, which could not be paid back.
    error BadWallet();
    /// @dev The position is in use, or has seen this round or a higher one.
    error SlotTaken();
    /// @dev The token does not answer `balanceOf`, or its balance plus the amount overflows.
    error BadBalance();
    /// @dev The balance after the payment is not the expected one: too little was there, or the token took a fee.
    error WrongAmount();
    /// @dev The op is not LOCKED under this locker.
    error NotLocked();
    /// @dev Not exactly `threshold` signatures of the op's attesters, sorted by signer.
    error NotAttested();
    /// @dev The ops of a batch belong to different sets of attesters.
    error MixedAttesters();
    /// @dev The attesters' signatures are no longer valid.
    error AttestationExpired();
    /// @dev The treasury stopped attested refunds; anyone can refund after refundDeadline.
    error AttestedRefundsStopped();
    /// @dev The token's cap of attested refunds for this hour is used up.
    error RefundCapReached();
    /// @dev A refund only after refundDeadline; a recovery only when the op can no longer be locked.
    error TooEarly();
    /// @dev The op's address holds nothing of this token.
    error NothingToRecover();
    /// @dev The token moved nothing, neither to the op's wallet nor into this contract.
    error PaymentRefused();
    /// @dev The token's cap for this hour is used up; the op stays LOCKED and can be claimed in a later hour.
    error ClaimCapReached();
    /// @dev A cap is at most 2^112 - 1.
    error CapTooLarge();
    /// @dev Too little gas to give a payment its full allowance; nothing was changed.
    error LowGas();
    /// @dev There is nothing to withdraw.
    error NoCredit();
    /// @dev A token is withdrawn to its owner only; native coin neither to the zero address nor to this contract.
    error BadRecipient();
    /// @dev The signature is not the credit owner's.
    error BadSignature();
    /// @dev Only the treasury, or, to lower a cap, the vault's guardian.
    error NotTreasury();
    /// @dev A role cannot be the zero address.
    error ZeroAddress();
    /// @dev A set has 1 to 7 members, sorted, none twice, and a threshold of 1 to all of them.
    error BadAttesters();
    /// @dev No set is proposed, its delay is not over, or it has lapsed.
    error AttestersNotReady();
    /// @dev Only this contract itself.
    error NotSelf();
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

    /// @notice Takes an op's input by the input token's EIP-3009 `receiveWithAuthorization`, from any wallet that signed:
    ///         (wallet, this contract, inputAmount, 0, opDeadline + 1, nonce = the op's hash). The caller is the locker.
    /// @param op The op.
    /// @param signature The wallet's signature, as the token accepts it: of a key, or by ERC-1271.
    function lockWithAuthorization(Op calldata op, bytes calldata signature) external;

    /// @notice Takes the inputs of many ops by authorization. An op that cannot be locked is reported and left out.
    /// @param ops The authorized ops; those with equal input tokens side by side cost less.
    function lockManyWithAuthorization(AuthorizedOp[] calldata ops) external;

    /// @notice Takes an op's input from the op's address, where anyone has sent it. The caller is the locker.
    /// @param op The op. It needs no signature: the input can only come back to its wallet or be swapped as it says.
    function lockDeposited(Op calldata op) external;

    /// @notice Takes an op's input from its wallet by an EIP-2612 permit, whose spender is the op's address and whose
    ///         value is inputAmount. An allowance that is there already also suffices. The caller is the locker.
    /// @param op The op.
    /// @param deadline The permit's deadline.
    /// @param v The permit's signature.
    /// @param r The permit's signature.
    /// @param s The permit's signature.
    function lockPermitted(Op calldata op, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;

    /// @notice Takes an op's input by the input token's EIP-3009 `transferWithAuthorization` to the op's address, in one
    ///         transaction. If anyone used the authorization before, the input lies there. The caller is the locker.
    /// @param op The op.
    /// @param validAfter As signed.
    /// @param validBefore As signed.
    /// @param nonce As signed: any word.
    /// @param signature The wallet's signature, as the token accepts it: of a key, or by ERC-1271.
    function lockPaid(Op calldata op, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes calldata signature)
        external;

    /// @notice Sends all of a token at an op's address to the op's wallet, once the op can no longer be locked: after
    ///         opDeadline, or when its position has seen its round. A refused payment becomes a credit of the wallet.
    ///         Anyone may call.
    /// @param locker The op's locker.
    /// @param op The op.
    /// @param token The token, also another than the input token.
    function recover(address locker, Op calldata op, address token) external;

    /// @notice Receives one authorized payment of a batch. Only this contract calls it.
    /// @param op The op.
    /// @param opHash The op's hash.
    /// @param expectedBalance This contract's balance of the input token after the payment.
    /// @param signature The wallet's signature.
    function receiveAuthorized(Op calldata op, bytes32 opHash, uint256 expectedBalance, bytes calldata signature)
        external;

    /// @notice Moves funds in the name of an op's address. Only this contract calls it, on an op's address.
    /// @param token The token.
    /// @param from The op's address, or a wallet with an allowance for it.
    /// @param to This contract or the op's wallet.
    /// @param amount The amount.
    function moveFromOpAddress(address token, address from, address to, uint256 amount) external;

    /// @notice Pays a delivered op's input to the vault.
    /// @param op The op and its locker.
    /// @param signatures The attesters' signatures over Claims([op]): exactly `threshold` EIP-2098 signatures of 64
    ///        bytes, sorted by signer.
    function claim(LockedOp calldata op, bytes calldata signatures) external;

    /// @notice Pays the inputs of delivered ops to the vault: one transfer for each run of equal tokens. Ops that are no
    ///         longer LOCKED are left out, as are those above the token's cap, which can be claimed in a later hour.
    /// @param ops The ops and their lockers, all of one set of attesters; sort them by token.
    /// @param signatures The attesters' signatures over Claims(ops), in this order; as for `claim`.
    function claimMany(LockedOp[] calldata ops, bytes calldata signatures) external;

    /// @notice Returns an op's input to its wallet after refundDeadline. Anyone may call, and nobody can stop it.
    /// @param locker The op's locker.
    /// @param op The op.
    function refund(address locker, Op calldata op) external;

    /// @notice Returns an op's input to its wallet at any time, since the attesters signed that it will not be delivered.
    /// @param locker The op's locker.
    /// @param op The op.
    /// @param validUntil Last second at which the attesters' signatures are valid.
    /// @param signatures The attesters' signatures over Refund(op, validUntil); as for `claim`.
    function refundAttested(address locker, Op calldata op, uint256 validUntil, bytes calldata signatures) external;

    /// @notice Pays out the caller's credit.
    /// @param token The token of the credit.
    /// @param to The caller; for native coin any recipient.
    function withdraw(address token, address to) external;

    /// @notice Pays out an owner's credit by signature, for owners without gas. Anyone may call.
    /// @param owner The owner of the credit.
    /// @param token The token of the credit.
    /// @param to The owner; for native coin any recipient.
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

    /// @notice Proposes the next set of attesters, or withdraws the proposal (no members). Treasury only.
    /// @param members 1 to 7 keys, sorted.
    /// @param threshold How many of them must sign.
    function proposeAttesters(address[] calldata members, uint256 threshold) external;

    /// @notice Adds the proposed set, from 1 to 3 days after the proposal. Treasury only.
    /// @dev It decides ops whose refundDeadline is more than 7 days from now: none that is locked now, or was.
    function acceptAttesters() external;

    /// @notice Sets how much of a token can be claimed per hour. Treasury only; the vault's guardian can lower it.
    /// @dev A token without a cap cannot be claimed, so that stolen attester keys cannot move unexpected tokens.
    /// @param token The token.
    /// @param limitPerHour The limit, at most 2^112 - 1.
    function setClaimCap(address token, uint256 limitPerHour) external;

    /// @notice Sets how much of a token attesters can refund per hour. Treasury only; the vault's guardian can lower it.
    /// @dev A token without a cap has no attested refunds. The public refund after refundDeadline has no cap.
    /// @param token The token.
    /// @param limitPerHour The limit, at most 2^112 - 1.
    function setRefundCap(address token, uint256 limitPerHour) external;

    /// @notice Stops all attested refunds, or allows them again. Treasury only.
    /// @param isStopped Whether they are stopped.
    function setAttestedRefundsStopped(bool isStopped) external;

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

    /// @notice A token's cap of attested refunds and the amount so refunded this hour.
    /// @param token The token.
    function refundCaps(address token) external view returns (uint256 limitPerHour, uint256 refundedThisHour);

    /// @notice Whether the treasury has stopped attested refunds.
    function attestedRefundsStopped() external view returns (bool);

    /// @notice The op's own address. Funds there go into this contract for this op, or to the op's wallet.
    /// @param op The op's hash.
    function depositAddress(bytes32 op) external view returns (address);

    /// @notice The set that decides ops with this refundDeadline: the newest with `since <= refundDeadline`. The answer is
    ///         final for every refundDeadline of at most 7 days from now, so for every op that can be locked now.
    /// @param refundDeadline The op's refundDeadline.
    function attestersFor(uint256 refundDeadline) external view returns (address[] memory members, uint256 threshold);

    /// @notice The sets that decide ops with this refundDeadline or a later one, the oldest first. All sets from 0 on.
    /// @param refundDeadline The first refundDeadline.
    function attestersFrom(uint256 refundDeadline) external view returns (Attesters[] memory sets);

    /// @notice The proposed set and the second from which it can be accepted; nothing once it has lapsed.
    function proposedAttesters()
        external
        view
        returns (address[] memory members, uint256 threshold, uint256 readyAt);

    /// @notice The recipient of claimed inputs.
    function VAULT() external view returns (address);

    /// @notice The code a wallet must be delegated to.
    function ACCOUNT() external view returns (address);

    /// @notice The account that sets caps and proposes attesters.
    function TREASURY() external view returns (address);
}
