// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {EfficientHashLib} from "solady/src/utils/EfficientHashLib.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {EscrowAttesters} from "./escrow/EscrowAttesters.sol";
import {EscrowBase} from "./escrow/EscrowBase.sol";
import {EscrowOpAddress} from "./escrow/EscrowOpAddress.sol";
import {IGeoEscrow} from "./interfaces/IGeoEscrow.sol";
import {IGeoVault} from "./interfaces/IGeoVault.sol";
import {GeoOpLib} from "./libraries/GeoOpLib.sol";
import {HourlyCapLib} from "./libraries/HourlyCapLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";
import {SlotLib} from "./libraries/SlotLib.sol";

/// @title GeoEscrow
/// @notice Holds inputs in transit. A locker takes the input of an op in one of four ways. The input then goes to the
///         vault once enough attesters have confirmed the delivery, or back to the wallet: at once with the attesters'
///         signatures, by anyone after the op's refundDeadline. Nobody can pause that or change this contract.
///
/// Funds it can move: its own, and those at ops' own addresses. Each op's input is paid once, either to the vault or to
/// the wallet. Funds at an op's address go into this contract for that op, or to its wallet.
///
/// Attacks it prevents:
/// - Replay of an op, also on another chain or in another escrow: one word per index, and the EIP-712 domain.
/// - Griefing of positions: each locker has its own ring of positions, and the op's hash names the locker.
/// - A wallet without delegation, or with another one, where a call "succeeds": the wallet's code hash is compared.
/// - An authorization or permit used for another op, or by others: its nonce is the op's hash, its spender the op's address.
/// - Tokens that take a fee, lie, return nothing or false: the balance must be exactly the expected one.
/// - Stuck funds: refundDeadline is at most 7 days away; a refused payment becomes a credit, and the op closes.
/// - A delivered op refunded because the vault could not be paid: the claim closes the op and credits the vault.
/// - Batches poisoned by one op: each op has its own gas, and a failure leaves no trace but a log.
/// - Callers that supply too little gas, so that a good op fails or a payment becomes a credit: the call reverts.
/// - Re-entrancy through tokens or wallets: one transient guard over every call that moves funds.
/// - Stolen attester keys, fewer than the threshold: no effect. The threshold: they can pay only the vault or the
///   wallets, each at most a cap per hour, and the treasury can set both caps to 0 at once.
/// - A malicious treasury: a set of attesters that it adds never decides an op that was locked before.
contract GeoEscrow is EscrowOpAddress {
    using HourlyCapLib for uint256;

    mapping(address token => uint256 word) private _claimCaps;
    mapping(address token => uint256 word) private _refundCaps;

    /// @dev Equal arguments on all chains give equal addresses by CREATE2, whatever the deployer's address.
    constructor(address vault, address[] memory attesters, uint256 threshold, address treasury)
        EscrowBase(vault, treasury)
        EscrowAttesters(attesters, threshold)
    {}

    /// @dev Wallets pay native inputs by plain transfer. Coins from anyone else are lost to the sender.
    receive() external payable {}

    /// @inheritdoc IGeoEscrow
    function claim(LockedOp calldata op, bytes calldata signatures) external nonReentrant {
        (AttesterSet storage set,,) = _setFor(op.op.refundDeadline);
        bytes32[] memory hashes = new bytes32[](1);
        hashes[0] = hashOp(op.op, op.locker);
        _requireAttested(set, GeoOpLib.hashClaims(hashes), signatures);
        address token = op.op.inputToken;
        uint256 amount = op.op.inputAmount;
        uint256 cap = _claimCaps[token];
        if (amount > cap.room()) revert ClaimCapReached();

        _close(op.locker, op.op.index, hashes[0], SlotLib.CLAIMED);
        emit Claimed(hashes[0]);
        _payVault(token, cap, amount);
    }

    /// @inheritdoc IGeoEscrow
    function claimMany(LockedOp[] calldata ops, bytes calldata signatures) external nonReentrant {
        if (ops.length == 0) return;
        (AttesterSet storage set, uint256 since, uint256 last) = _setFor(ops[0].op.refundDeadline);
        bytes32[] memory hashes = _hashAll(ops, since, last - since);
        _requireAttested(set, GeoOpLib.hashClaims(hashes), signatures);

        address token = ops[0].op.inputToken;
        uint256 cap = _claimCaps[token];
        uint256 room = cap.room();
        uint256 left = room;
        for (uint256 i; i < ops.length; ++i) {
            LockedOp calldata locked = ops[i];
            if (locked.op.inputToken != token) {
                if (room != left) _payVault(token, cap, room - left);
                token = locked.op.inputToken;
                cap = _claimCaps[token];
                left = room = cap.room();
            }
            left = _tryClaim(locked, hashes[i], left);
        }
        if (room != left) _payVault(token, cap, room - left);
    }

    /// @inheritdoc IGeoEscrow
    function refund(address locker, Op calldata op) external nonReentrant {
        if (block.timestamp <= op.refundDeadline) revert TooEarly();
        _refund(locker, op, hashOp(op, locker));
    }

    /// @inheritdoc IGeoEscrow
    function refundAttested(address locker, Op calldata op, uint256 validUntil, bytes calldata signatures)
        external
        nonReentrant
    {
        if (attestedRefundsStopped) revert AttestedRefundsStopped();
        if (block.timestamp > validUntil) revert AttestationExpired();
        (AttesterSet storage set,,) = _setFor(op.refundDeadline);
        bytes32 hash = hashOp(op, locker);
        _requireAttested(set, GeoOpLib.hashRefund(hash, validUntil), signatures);
        uint256 cap = _refundCaps[op.inputToken];
        if (op.inputAmount > cap.room()) revert RefundCapReached();
        _refundCaps[op.inputToken] = cap.spend(op.inputAmount);
        _refund(locker, op, hash);
    }

    /// @inheritdoc IGeoEscrow
    function withdraw(address token, address to) external nonReentrant {
        _withdraw(msg.sender, token, to);
    }

    /// @inheritdoc IGeoEscrow
    function withdrawBySignature(
        address owner,
        address token,
        address to,
        uint256 deadline,
        bytes32 r,
        bytes32 vs
    ) external nonReentrant {
        if (block.timestamp > deadline) revert Expired();
        bytes32 digest = _hashTypedData(GeoOpLib.hashWithdraw(owner, token, to, nonces[owner]++, deadline));
        address signer = SignatureLib.signer(digest, r, vs);
        if (signer == address(0) || signer != owner) revert BadSignature();
        _withdraw(owner, token, to);
    }

    /// @inheritdoc IGeoEscrow
    function setClaimCap(address token, uint256 limitPerHour) external nonReentrant {
        _claimCaps[token] = _withLimit(_claimCaps[token], limitPerHour);
        emit ClaimCapSet(token, limitPerHour);
    }

    /// @inheritdoc IGeoEscrow
    function setRefundCap(address token, uint256 limitPerHour) external nonReentrant {
        _refundCaps[token] = _withLimit(_refundCaps[token], limitPerHour);
        emit RefundCapSet(token, limitPerHour);
    }

    /// @inheritdoc IGeoEscrow
    function claimCaps(address token) external view returns (uint256 limitPerHour, uint256 claimedThisHour) {
        uint256 word = _claimCaps[token];
        return (word.limit(), word.spent());
    }

    /// @inheritdoc IGeoEscrow
    function refundCaps(address token) external view returns (uint256 limitPerHour, uint256 refundedThisHour) {
        uint256 word = _refundCaps[token];
        return (word.limit(), word.spent());
    }

    /// @dev A cap's word with another limit: any by the treasury, a lower one by the vault's guardian.
    function _withLimit(uint256 word, uint256 limitPerHour) private view returns (uint256) {
        if (limitPerHour > HourlyCapLib.MAX_LIMIT) revert CapTooLarge();
        if (msg.sender != TREASURY) {
            if (limitPerHour >= word.limit() || msg.sender != IGeoVault(VAULT).guardian()) revert NotTreasury();
        }
        return word.withLimit(limitPerHour);
    }

    /// @dev The ops' hashes. All refundDeadlines must be those of one set: from `since` to `since + span`.
    function _hashAll(LockedOp[] calldata ops, uint256 since, uint256 span)
        private
        view
        returns (bytes32[] memory hashes)
    {
        hashes = EfficientHashLib.malloc(ops.length);
        bytes32 domain = _domainSeparator();
        for (uint256 i; i < ops.length; ++i) {
            LockedOp calldata locked = ops[i];
            unchecked {
                // Wraps around below `since`.
                if (locked.op.refundDeadline - since > span) revert MixedAttesters();
            }
            bytes32 hash = MessageHashUtils.toTypedDataHash(domain, GeoOpLib.hashOp(locked.op, locked.locker));
            EfficientHashLib.set(hashes, i, hash);
        }
    }

    /// @dev Closes one op of a batch, or leaves it unchanged. `room` is the rest of the token's cap before and after.
    function _tryClaim(LockedOp calldata locked, bytes32 hash, uint256 room) private returns (uint256) {
        uint256 index = locked.op.index;
        Slot storage place = _slots[SlotLib.key(locked.locker, index)];
        uint256 word = SlotLib.stateless(index, hash);
        if (place.word != word | SlotLib.LOCKED) return room;
        uint256 amount = locked.op.inputAmount;
        if (amount > room) {
            emit ClaimDeferred(hash);
            return room;
        }
        place.word = word | SlotLib.CLAIMED;
        emit Claimed(hash);
        unchecked {
            return room - amount;
        }
    }

    function _refund(address locker, Op calldata op, bytes32 hash) private {
        _close(locker, op.index, hash, SlotLib.REFUNDED);
        emit Refunded(hash);
        _push(op.inputToken, op.wallet, op.inputAmount);
    }

    /// @dev `cap` is the token's word in `_claimCaps`, and has room for the amount.
    function _payVault(address token, uint256 cap, uint256 amount) private {
        _claimCaps[token] = cap.spend(amount);
        _push(token, VAULT, amount);
    }

    function _withdraw(address owner, address token, address to) private {
        // A token that blocks the owner would block this contract for helping it.
        if (token != address(0) && to != owner) revert BadRecipient();
        if (to == address(0) || to == address(this)) revert BadRecipient();
        uint256 amount = credits[owner][token];
        if (amount == 0) revert NoCredit();
        credits[owner][token] = 0;
        emit Withdrawn(owner, token, to, amount);
        if (token == address(0)) SafeTransferLib.safeTransferETH(to, amount);
        else SafeTransferLib.safeTransfer(token, to, amount);
    }
}
