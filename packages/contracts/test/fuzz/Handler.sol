// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {HandlerBase} from "./HandlerBase.sol";
import {MoodToken} from "./MoodToken.sol";
import {vm} from "./Vm.sol";

/// @dev Everything that lockers, wallets, attesters, the treasury, tokens and strangers do, in any order.
contract Handler is HandlerBase {
    function lock(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        Entry storage entry = _newOp(seed, _anyLocker(seed));
        (bytes32 r, bytes32 vs) = _signOp(entry, seed);
        _call(_callerFor(entry, seed), abi.encodeCall(IGeoEscrow.lock, (entry.op, r, vs)));
    }

    function lockMany(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        IGeoEscrow.SignedOp[] memory ops = new IGeoEscrow.SignedOp[](3);
        for (uint256 i; i < 3; ++i) {
            Entry storage entry = _newOp(_next(seed, i), _anyLocker(seed));
            (bytes32 r, bytes32 vs) = _signOp(entry, _next(seed, i));
            ops[i] = IGeoEscrow.SignedOp(entry.op, r, vs);
        }
        _call(_anyLocker(seed), abi.encodeCall(IGeoEscrow.lockMany, (ops)));
    }

    function lockWithAuthorization(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        Entry storage entry = _newOp(seed, _anyLocker(seed));
        bytes memory data = abi.encodeCall(IGeoEscrow.lockWithAuthorization, (entry.op, _signAuthorization(entry, seed)));
        _call(_callerFor(entry, seed), data);
    }

    function lockManyWithAuthorization(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        IGeoEscrow.AuthorizedOp[] memory ops = new IGeoEscrow.AuthorizedOp[](3);
        for (uint256 i; i < 3; ++i) {
            Entry storage entry = _newOp(_next(seed, i), _anyLocker(seed));
            ops[i] = IGeoEscrow.AuthorizedOp(entry.op, _signAuthorization(entry, _next(seed, i)));
        }
        _call(_anyLocker(seed), abi.encodeCall(IGeoEscrow.lockManyWithAuthorization, (ops)));
    }

    function lockPermitted(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        Entry storage entry = _newOp(seed, _anyLocker(seed));
        (uint8 v, bytes32 r, bytes32 s) = _signPermit(entry);
        bytes memory data = abi.encodeCall(IGeoEscrow.lockPermitted, (entry.op, type(uint256).max, v, r, s));
        _call(_callerFor(entry, seed), data);
    }

    function lockPaid(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        Entry storage entry = _newOp(seed, _anyLocker(seed));
        bytes memory signature = _signPayment(entry, seed);
        uint256 validBefore = entry.op.opDeadline + 1;
        bytes memory data = abi.encodeCall(IGeoEscrow.lockPaid, (entry.op, 0, validBefore, entry.hash, signature));
        _call(_callerFor(entry, seed), data);
    }

    /// @dev An op that was sent before, whatever became of it, with the same signature: alone or in a batch.
    function replay(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        Entry storage entry = _recentEntry(seed);
        _give(entry.op.inputToken, entry.op.wallet, entry.op.inputAmount);
        (bytes32 r, bytes32 vs) = _signOp(entry, 1 << 44);
        IGeoEscrow.SignedOp[] memory ops = new IGeoEscrow.SignedOp[](1);
        ops[0] = IGeoEscrow.SignedOp(entry.op, r, vs);
        bytes memory alone = abi.encodeCall(IGeoEscrow.lock, (entry.op, r, vs));
        _call(entry.locker, seed % 2 == 0 ? alone : abi.encodeCall(IGeoEscrow.lockMany, (ops)));
    }

    /// @dev A deposit of the input, a little more, a little less, or of anything, for a new op or an old one.
    function deposit(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        Entry storage entry = seed % 3 == 0 && entries.length > 0 ? _anyEntry(seed >> 8) : _newOp(seed, _anyLocker(seed));
        address token = seed % 5 == 0 ? _pick(tokens, seed >> 16) : entry.op.inputToken;
        _give(token, escrow.depositAddress(entry.hash), entry.op.inputAmount + seed % 3 - 1);
        if (seed % 7 != 0) _call(entry.locker, abi.encodeCall(IGeoEscrow.lockDeposited, (entry.op)));
    }

    function recover(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        Entry storage entry = _anyEntry(seed);
        address token = seed % 3 == 0 ? _pick(tokens, seed >> 16) : entry.op.inputToken;
        _call(ATTACKER, abi.encodeCall(IGeoEscrow.recover, (entry.locker, entry.op, token)));
    }

    function claim(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        Entry storage entry = _anyEntry(seed);
        bytes32[] memory hashes = new bytes32[](1);
        hashes[0] = entry.hash;
        bytes memory signatures = _attest(entry, _hashClaims(hashes), seed);
        _call(ATTACKER, abi.encodeCall(IGeoEscrow.claim, (IGeoEscrow.LockedOp(entry.locker, entry.op), signatures)));
        _isForged = false;
    }

    function claimMany(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        bytes32[] memory hashes = new bytes32[](4);
        IGeoEscrow.LockedOp[] memory ops = new IGeoEscrow.LockedOp[](4);
        for (uint256 i; i < 4; ++i) {
            Entry storage entry = _anyEntry(_next(seed, i));
            hashes[i] = entry.hash;
            ops[i] = IGeoEscrow.LockedOp(entry.locker, entry.op);
        }
        bytes memory signatures = _attest(entries[_numberOf[hashes[0]] - 1], _hashClaims(hashes), seed);
        _call(ATTACKER, abi.encodeCall(IGeoEscrow.claimMany, (ops, signatures)));
        _isForged = false;
    }

    function refund(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        Entry storage entry = _anyEntry(seed);
        _isForged = true;
        _call(ATTACKER, abi.encodeCall(IGeoEscrow.refund, (entry.locker, entry.op)));
        _isForged = false;
    }

    function refundAttested(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        Entry storage entry = _anyEntry(seed);
        uint256 validUntil = block.timestamp + seed % 3;
        bytes32 terms = keccak256(abi.encode(keccak256("Refund(bytes32 op,uint256 validUntil)"), entry.hash, validUntil));
        bytes memory signatures = _attest(entry, terms, seed);
        _isAttestedRefund = true;
        _call(ATTACKER, abi.encodeCall(IGeoEscrow.refundAttested, (entry.locker, entry.op, validUntil, signatures)));
        (_isForged, _isAttestedRefund) = (false, false);
    }

    function withdraw(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        address owner = _pick(wallets, seed);
        address token = _pick(tokens, seed >> 8);
        // Coins go anywhere, tokens to their owner only.
        address to = token == address(0) || seed % 8 == 0 ? PAYOUT : owner;
        _call(owner, abi.encodeCall(IGeoEscrow.withdraw, (token, to)));
    }

    function withdrawOfOthers(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        _call(ATTACKER, abi.encodeCall(IGeoEscrow.withdraw, (_pick(tokens, seed), ATTACKER)));
    }

    function deliver(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        (bytes32 ring, address token, IGeoVault.Fill memory fill) = _newOrder(seed);
        uint256 before = balanceOf(token, fill.recipient);
        bool ok = _call(_deliverer, address(vault), abi.encodeCall(IGeoVault.deliver, (ring, token, fill)));
        if (ok && balanceOf(token, fill.recipient) < before + fill.minOutput) _break(Sentence.DeliversOnce);
    }

    function deliverMany(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        IGeoVault.DeliveryOrder[] memory orders = new IGeoVault.DeliveryOrder[](3);
        for (uint256 i; i < 3; ++i) {
            (bytes32 ring, address token, IGeoVault.Fill memory fill) = _newOrder(_next(seed, i));
            orders[i] = IGeoVault.DeliveryOrder(ring, token, fill);
        }
        _call(_deliverer, address(vault), abi.encodeCall(IGeoVault.deliverMany, (orders)));
    }

    function changeMood(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        MoodToken token = MoodToken(tokens[1 + seed % MOODY]);
        token.setMood(seed % 2 == 0 ? MoodToken.Mood.Honest : MoodToken.Mood((seed >> 8) % 9));
        if (entries.length == 0) return;
        Entry storage entry = _anyEntry(seed >> 16);
        bytes memory data = seed % 3 == 0
            ? abi.encodeCall(IGeoEscrow.refund, (entry.locker, entry.op))
            : seed % 3 == 1
                ? abi.encodeCall(IGeoEscrow.recover, (entry.locker, entry.op, entry.op.inputToken))
                : abi.encodeCall(IGeoEscrow.lockDeposited, (entry.op));
        token.setCall(address(escrow), data);
    }

    /// @dev A wallet has GeoAccount's code, none, another's, or one that refuses coins.
    function redelegate(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        bytes memory ours = abi.encodePacked(hex"ef0100", escrow.ACCOUNT());
        bytes memory code = seed % 4 == 0 ? bytes("") : seed % 4 == 1 ? bytes(hex"5f5ff3") : seed % 4 == 2 ? bytes(hex"5f5ffd") : ours;
        vm.etch(_pick(wallets, seed >> 8), code);
    }

    /// @dev The guardian tries to set any cap, and to allow or revoke a deliverer.
    function guard(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        address token = _pick(tokens, seed);
        uint256 limit = (seed >> 8) % 3_000;
        if (seed % 3 == 0) return _guardCap(IGeoEscrow.setClaimCap.selector, address(escrow), token, limit);
        if (seed % 3 == 1) return _guardCap(IGeoEscrow.setRefundCap.selector, address(escrow), token, limit);
        _guardCap(IGeoVault.setCap.selector, address(vault), token, limit);
        bytes memory data = abi.encodeCall(IGeoVault.setDeliverer, (ATTACKER, true));
        if (_call(_guardian, address(vault), data)) _break(Sentence.Caps);
    }

    function setCaps(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        address token = _pick(tokens, seed);
        uint256 limit = seed % 3 == 0 ? 0 : seed % 3 == 1 ? (seed >> 8) % 3_000 : type(uint112).max;
        _setCap(seed % 5 < 2 ? IGeoEscrow.setClaimCap.selector : IGeoEscrow.setRefundCap.selector, token, limit);
        if (seed % 5 == 4) _setVaultCap(token, limit);
    }

    function stopAttestedRefunds(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        _call(_treasury, abi.encodeCall(IGeoEscrow.setAttestedRefundsStopped, (seed % 3 == 0)));
    }

    function proposeAttesters(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        (address[] memory members, uint256 threshold) = _someSet(seed);
        _call(_treasury, abi.encodeCall(IGeoEscrow.proposeAttesters, (members, threshold)));
    }

    function acceptAttesters(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        (,, uint256 readyAt) = escrow.proposedAttesters();
        if (seed % 2 == 0 && readyAt > block.timestamp) _warpTo(readyAt + (seed >> 8) % 2 days);
        _call(_treasury, abi.encodeCall(IGeoEscrow.acceptAttesters, ()));
    }

    function wait(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        uint256[5] memory times = [uint256(1), 10 minutes, 1 hours, 1 days, 7 days];
        _warpTo(block.timestamp + seed % times[(seed >> 128) % 5]);
    }

    /// @dev Someone sends tokens or coins to the escrow.
    function donate(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        address token = _pick(tokens, seed);
        _give(token, address(escrow), seed % 100);
        _donated[token] += seed % 100;
    }

    /// @dev Anyone can call what has code at an op's address.
    function callOpAddress(uint256 raw) external {
        uint256 seed = _next(raw, 0);
        if (entries.length == 0) return;
        Entry storage entry = _anyEntry(seed);
        address at = escrow.depositAddress(entry.hash);
        address token = entry.op.inputToken;
        bytes memory data = abi.encodeCall(IGeoEscrow.moveFromOpAddress, (token, at, ATTACKER, balanceOf(token, at)));
        _call(ATTACKER, at, data);
        _call(ATTACKER, data);
    }

    /// @dev The worst that the treasury can do.
    function stopEverything() external {
        for (uint256 i; i < tokens.length; ++i) {
            _setCap(IGeoEscrow.setClaimCap.selector, tokens[i], 0);
            _setCap(IGeoEscrow.setRefundCap.selector, tokens[i], 0);
        }
        _call(_treasury, abi.encodeCall(IGeoEscrow.setAttestedRefundsStopped, (true)));
    }

    /// @dev Refunds every locked op after its deadline, and looks at everyone else's pockets.
    function refundAll() external {
        for (uint256 i; i < entries.length; ++i) {
            Entry storage entry = entries[i];
            if (entry.state != State.LOCKED) continue;
            if (setOf(entry.op.refundDeadline) != entry.set) _break(Sentence.OwnSet);
            if (block.timestamp <= entry.op.refundDeadline) _warpTo(entry.op.refundDeadline + 1);
            _call(ATTACKER, abi.encodeCall(IGeoEscrow.refund, (entry.locker, entry.op)));
            if (entry.state != State.REFUNDED) _break(Sentence.Refundable);
        }
        for (uint256 i; i < tokens.length; ++i) {
            uint256 stolen = balanceOf(tokens[i], ATTACKER) + balanceOf(tokens[i], _lockers[0]);
            if (stolen + balanceOf(tokens[i], _lockers[1]) + balanceOf(tokens[i], _treasury) > 0) {
                _break(Sentence.PaysOwners);
            }
        }
    }
}
