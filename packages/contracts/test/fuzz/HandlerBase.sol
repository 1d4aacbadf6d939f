// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Ledger} from "./Ledger.sol";
import {MoodToken} from "./MoodToken.sol";
import {vm} from "./Vm.sol";

interface Dollar {
    function DOMAIN_SEPARATOR() external view returns (bytes32);
    function nonces(address owner) external view returns (uint256);
}

/// @dev The actors, and how they choose and sign.
abstract contract HandlerBase is Ledger {
    uint256 private constant ATTESTERS = 6;

    address[2] internal _lockers = [address(0x10c1), address(0x10c2)];
    address internal _treasury = address(0x7e5);
    address internal _deliverer = address(0xde1);
    address internal _guardian = address(0x94a);
    mapping(address account => uint256 key) private _keyOf;
    address[] private _attesters;
    bytes32 private _domain;
    uint256 private _salt;

    constructor() {
        for (uint256 i; i < ATTESTERS; ++i) _addAttester(uint256(keccak256(abi.encode("attester", i))));
        for (uint256 i; i < 4; ++i) _addWallet(uint256(keccak256(abi.encode("wallet", i))));
        (address[] memory members, uint256 threshold) = _someSet(1);
        vault = IGeoVault(_create("GeoVault", abi.encode(_treasury, members, threshold)));
        escrow = IGeoEscrow(vault.ESCROW());
        bytes32 typehash = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        _domain = keccak256(abi.encode(typehash, keccak256("GeoEscrow"), keccak256("1"), block.chainid, address(escrow)));
        tokens.push(address(0));
        for (uint256 i; i < MOODY; ++i) tokens.push(address(new MoodToken()));
        tokens.push(_create("TestDollar", abi.encode("USD Coin", "USDC", uint8(6))));
        _open();
    }

    function _open() private {
        bytes memory ours = abi.encodePacked(hex"ef0100", escrow.ACCOUNT());
        for (uint256 i; i < wallets.length; ++i) if (i % 2 == 0) vm.etch(wallets[i], ours);
        _call(_treasury, address(vault), abi.encodeCall(IGeoVault.setDeliverer, (_deliverer, true)));
        _call(_treasury, address(vault), abi.encodeCall(IGeoVault.setGuardian, (_guardian)));
        for (uint256 i; i < tokens.length; ++i) {
            _setCap(IGeoEscrow.setClaimCap.selector, tokens[i], type(uint112).max);
            _setCap(IGeoEscrow.setRefundCap.selector, tokens[i], type(uint112).max);
            _setVaultCap(tokens[i], type(uint112).max);
            _give(tokens[i], address(vault), 1e15);
        }
    }

    function _create(string memory name, bytes memory args) private returns (address created) {
        bytes memory code = abi.encodePacked(vm.getCode(name), args);
        assembly {
            created := create(0, add(code, 0x20), mload(code))
        }
        require(created != address(0), name);
    }

    function _addAttester(uint256 key) private {
        address member = vm.addr(key);
        _keyOf[member] = key;
        _attesters.push(member);
        for (uint256 i = _attesters.length - 1; i > 0 && _attesters[i] < _attesters[i - 1]; --i) {
            (_attesters[i], _attesters[i - 1]) = (_attesters[i - 1], _attesters[i]);
        }
    }

    function _addWallet(uint256 key) private {
        address wallet = vm.addr(key);
        _keyOf[wallet] = key;
        _isWallet[wallet] = true;
        wallets.push(wallet);
    }

    function _next(uint256 seed, uint256 step) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, step)));
    }

    function _pick(address[] storage list, uint256 seed) internal view returns (address) {
        return list[seed % list.length];
    }

    /// @dev Mostly a locked op, if there is one near a random place: only those can change.
    function _anyEntry(uint256 seed) internal view returns (Entry storage entry) {
        uint256 count = entries.length;
        uint256 at = (seed >> 24) % count;
        entry = entries[at];
        if (seed % 4 == 0) return entry;
        for (uint256 i; i < 16 && entry.state != State.LOCKED; ++i) entry = entries[(at + i) % count];
    }

    /// @dev One of the last 32, whose opDeadline has mostly not passed.
    function _recentEntry(uint256 seed) internal view returns (Entry storage) {
        uint256 count = entries.length;
        return entries[count - 1 - (seed >> 24) % (count < 32 ? count : 32)];
    }

    function _give(address token, address to, uint256 amount) internal {
        if (token == address(0)) vm.deal(to, to.balance + amount);
        else MoodToken(token).mint(to, amount);
    }

    /// @dev A new op whose wallet has the input. Some are late, out of range or on a used position.
    function _newOp(uint256 seed, address locker) internal returns (Entry storage) {
        address token = _pick(tokens, seed >> 8);
        address wallet = _pick(wallets, seed >> 16);
        uint256 position = (seed >> 24) % 8;
        uint256 round = _lastRound[locker][position] + ((seed >> 28) % 8 == 0 ? 0 : 1);
        uint256 opDeadline = block.timestamp + (seed >> 32) % 2 hours;
        IGeoEscrow.Op memory op = IGeoEscrow.Op({
            wallet: wallet,
            inputToken: token,
            inputAmount: (seed >> 64) % 1_000 + 1,
            index: round << 32 | position,
            opDeadline: opDeadline,
            refundDeadline: opDeadline + 1 + (seed >> 96) % 8 days,
            delivery: keccak256(abi.encode(seed, ++_salt))
        });
        _give(token, wallet, op.inputAmount);
        return _register(op, locker);
    }

    function _register(IGeoEscrow.Op memory op, address locker) private returns (Entry storage entry) {
        bytes32 hash = escrow.hashOp(op, locker);
        entry = entries.push();
        (entry.op, entry.locker, entry.hash) = (op, locker, hash);
        _numberOf[hash] = entries.length;
        _walletOf[escrow.depositAddress(hash)] = op.wallet;
    }

    function _anyLocker(uint256 seed) internal view returns (address) {
        return _lockers[(seed >> 20) % 2];
    }

    /// @dev The op's locker, and sometimes the other one, for whom it is another op.
    function _callerFor(Entry storage entry, uint256 seed) internal returns (address caller) {
        caller = (seed >> 40) % 16 == 0 ? _lockers[(seed >> 21) % 2] : entry.locker;
        if (caller != entry.locker) _register(entry.op, caller);
    }

    /// @dev As typed data or as a message, and sometimes by another wallet.
    function _signOp(Entry storage entry, uint256 seed) internal view returns (bytes32 r, bytes32 vs) {
        bytes32 message = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", entry.hash));
        address signer = (seed >> 44) % 16 == 0 ? _pick(wallets, seed >> 48) : entry.op.wallet;
        return _compact(signer, seed % 2 == 0 ? message : entry.hash);
    }

    function _signAuthorization(Entry storage entry, uint256 seed) internal view returns (bytes memory) {
        bytes32 typehash = keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        return _signTransfer(entry, seed, typehash, address(escrow));
    }

    function _signPayment(Entry storage entry, uint256 seed) internal view returns (bytes memory) {
        bytes32 typehash = keccak256(
            "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        return _signTransfer(entry, seed, typehash, escrow.depositAddress(entry.hash));
    }

    function _signTransfer(Entry storage entry, uint256 seed, bytes32 typehash, address to)
        private
        view
        returns (bytes memory)
    {
        IGeoEscrow.Op storage op = entry.op;
        if (op.inputToken != tokens[MOODY + 1]) return "";
        bytes32 terms =
            keccak256(abi.encode(typehash, op.wallet, to, op.inputAmount, 0, op.opDeadline + 1, entry.hash));
        address signer = (seed >> 44) % 16 == 0 ? _pick(wallets, seed >> 48) : op.wallet;
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(_keyOf[signer], _dollarDigest(terms));
        return abi.encodePacked(r, s, v);
    }

    function _signPermit(Entry storage entry) internal view returns (uint8 v, bytes32 r, bytes32 s) {
        IGeoEscrow.Op storage op = entry.op;
        if (op.inputToken != tokens[MOODY + 1]) return (27, bytes32(0), bytes32(0));
        bytes32 typehash = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        address spender = escrow.depositAddress(entry.hash);
        uint256 nonce = Dollar(op.inputToken).nonces(op.wallet);
        bytes32 terms = keccak256(abi.encode(typehash, op.wallet, spender, op.inputAmount, nonce, type(uint256).max));
        return vm.sign(_keyOf[op.wallet], _dollarDigest(terms));
    }

    function _dollarDigest(bytes32 terms) private view returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", Dollar(tokens[MOODY + 1]).DOMAIN_SEPARATOR(), terms));
    }

    function _hashClaims(bytes32[] memory hashes) internal pure returns (bytes32) {
        return keccak256(abi.encode(keccak256("Claims(bytes32[] ops)"), keccak256(abi.encodePacked(hashes))));
    }

    /// @dev Signatures of the op's own attesters. One in four lacks a signer, repeats one, or is of another set.
    function _attest(Entry storage entry, bytes32 terms, uint256 seed) internal returns (bytes memory signatures) {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", _domain, terms));
        (address[] memory members, uint256 threshold) = escrow.attestersFor(entry.op.refundDeadline);
        uint256 fault = (seed >> 52) % 8;
        if (fault == 0) (members, threshold) = (new address[](0), 0);
        else if (fault == 1) threshold -= 1;
        else if (fault == 2) (members, threshold) = _someSet(seed >> 60);
        _isForged = fault < 2 || fault == 2 && keccak256(abi.encode(members, threshold)) != setOf(entry.op.refundDeadline);
        // Another set may still contain enough members of the right one.
        if (fault == 2 && _isForged) _isForged = !_suffices(members, threshold, entry.op.refundDeadline);
        for (uint256 i; i < threshold; ++i) {
            (bytes32 r, bytes32 vs) = _compact(members[i], digest);
            signatures = abi.encodePacked(signatures, r, vs);
        }
    }

    function _suffices(address[] memory signers, uint256 count, uint256 refundDeadline) private view returns (bool) {
        (address[] memory members, uint256 threshold) = escrow.attestersFor(refundDeadline);
        uint256 found;
        for (uint256 i; i < count; ++i) {
            for (uint256 j; j < members.length; ++j) if (signers[i] == members[j]) ++found;
        }
        return found >= threshold;
    }

    /// @dev Sorted members of the pool, and how many of them must sign.
    function _someSet(uint256 seed) internal view returns (address[] memory members, uint256 threshold) {
        uint256 first = seed % 3;
        members = new address[](1 + (seed >> 4) % 4);
        for (uint256 i; i < members.length; ++i) members[i] = _attesters[first + i];
        threshold = 1 + (seed >> 8) % members.length;
    }

    function _newOrder(uint256 seed) internal returns (bytes32 ring, address token, IGeoVault.Fill memory fill) {
        ring = bytes32(seed % 2);
        token = _pick(tokens, seed >> 8);
        uint256 amount = (seed >> 16) % 1_000 + 1;
        fill = IGeoVault.Fill({
            index: ((seed >> 32) % 64) << 32 | (seed >> 40) % 3,
            amount: amount,
            minOutput: amount - (seed >> 48) % 2 * (amount / 50) + ((seed >> 52) % 16 == 0 ? 1 : 0),
            recipient: address(uint160(0x4ec0 + (seed >> 56) % 3)),
            fillDeadline: block.timestamp + (seed >> 64) % 10 - ((seed >> 72) % 8 == 0 ? 5 : 0)
        });
        Order storage order = _orders[vault.hashDelivery(ring, token, fill)];
        if (order.isDelivered) return (ring, token, fill);
        (order.ring, order.token, order.fill) = (ring, token, fill);
    }

    function _setCap(bytes4 selector, address token, uint256 limit) internal {
        _call(_treasury, abi.encodeWithSelector(selector, token, limit));
        bool isClaim = selector == IGeoEscrow.setClaimCap.selector;
        _raise(isClaim ? _claimCap : _refundCap, token, limit);
        if (isClaim) _limits[token].claim = limit;
        else _limits[token].refund = limit;
    }

    function _setVaultCap(address token, uint256 limit) internal {
        _call(_treasury, address(vault), abi.encodeCall(IGeoVault.setCap, (token, limit)));
        _raise(_vaultCap, token, limit);
        _limits[token].deliver = limit;
    }

    /// @dev The guardian can only lower a cap: if it raises one, nobody is bound by it.
    function _guardCap(bytes4 selector, address target, address token, uint256 limit) internal {
        Limits storage limits = _limits[token];
        bool isClaim = selector == IGeoEscrow.setClaimCap.selector;
        bool isRefund = selector == IGeoEscrow.setRefundCap.selector;
        uint256 current = isClaim ? limits.claim : isRefund ? limits.refund : limits.deliver;
        if (!_call(_guardian, target, abi.encodeWithSelector(selector, token, limit))) return;
        if (limit >= current) _break(Sentence.Caps);
        if (isClaim) limits.claim = limit;
        else if (isRefund) limits.refund = limit;
        else limits.deliver = limit;
    }

    struct Limits { uint256 claim; uint256 refund; uint256 deliver; }
    mapping(address token => Limits) private _limits;

    /// @dev The highest cap of an hour counts, because it may have been used before it was lowered.
    function _raise(mapping(address => mapping(uint256 => uint256)) storage caps, address token, uint256 limit) private {
        if (caps[token][hour()] < limit) caps[token][hour()] = limit;
    }

    function _warpTo(uint256 time) internal {
        vm.warp(time);
        for (uint256 i; i < tokens.length; ++i) {
            _raise(_claimCap, tokens[i], _limits[tokens[i]].claim);
            _raise(_refundCap, tokens[i], _limits[tokens[i]].refund);
            _raise(_vaultCap, tokens[i], _limits[tokens[i]].deliver);
        }
    }

    function _compact(address signer, bytes32 digest) private view returns (bytes32, bytes32) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(_keyOf[signer], digest);
        return (r, bytes32(uint256(s) | uint256(v - 27) << 255));
    }
}
