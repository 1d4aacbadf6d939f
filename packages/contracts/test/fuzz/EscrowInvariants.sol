// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Handler} from "./Handler.sol";
import {vm} from "./Vm.sol";

/// @dev The runner makes sequences of calls to the handler, and asks after each whether every sentence is still true.
contract EscrowInvariants {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    Handler private _handler;

    /// @dev A bit for each sentence that is untrue.
    error Untrue(uint256 sentences);

    function setUp() external {
        vm.warp(1_767_225_600);
        _handler = new Handler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @dev Only `afterInvariant` calls these.
    function excludeSelectors() external view returns (FuzzSelector[] memory excluded) {
        excluded = new FuzzSelector[](1);
        bytes4[] memory selectors = new bytes4[](2);
        (selectors[0], selectors[1]) = (Handler.stopEverything.selector, Handler.refundAll.selector);
        excluded[0] = FuzzSelector(address(_handler), selectors);
    }

    function invariant_everySentence() external view {
        _requireAll();
    }

    /// @dev At the end of each sequence: whatever caps, stops and tokens are like, every locked op is refunded.
    function afterInvariant() external {
        _handler.stopEverything();
        _handler.refundAll();
        _requireAll();
    }

    function _requireAll() private view {
        uint256 untrue = _handler.untrue();
        if (untrue != 0) revert Untrue(untrue);
    }
}
